package dataset

import "testing"

func TestPartString(t *testing.T) {
	t.Parallel()
	for part, want := range map[Part]string{Train: "train", Valid: "valid", Test: "test", Unused: "unused", 4: "part 4", 99: "part 99"} {
		if got := part.String(); got != want {
			t.Errorf("Part(%d).String() = %q, want %q", uint8(part), got, want)
		}
	}
}

func TestParsePart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Part{"train": Train, "valid": Valid, "validation": Valid, "test": Test, "unused": Unused} {
		if got, ok := ParsePart([]byte(text)); !ok || got != want {
			t.Errorf("ParsePart(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "Train", "dev", "part 4"} {
		if got, ok := ParsePart([]byte(text)); ok {
			t.Errorf("ParsePart(%q) = %v, want none", text, got)
		}
	}
}

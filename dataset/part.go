package dataset

import "strconv"

// Part is the set that an observation belongs to.
type Part uint8

const (
	Train  Part = iota // training set
	Valid              // validation set
	Test               // test set
	Unused             // in no set
)

var partNames = [...]string{"train", "valid", "test", "unused"}

// String returns train, valid, test or unused, and the number of a part that is none of
// them, as in "part 99".
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return "part " + strconv.Itoa(int(p))
}

// PartRemedy lists the values of a part.
const PartRemedy = "write train, valid, test or unused"

// ParsePart reads what [Part.String] returns, and also validation.
func ParsePart(b []byte) (part Part, ok bool) {
	switch string(b) {
	case "train":
		return Train, true
	case "valid", "validation":
		return Valid, true
	case "test":
		return Test, true
	case "unused":
		return Unused, true
	}
	return 0, false
}

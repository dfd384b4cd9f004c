package modelfile

import "fmt"

// StringTensors stores a list of strings, such as the ids of a mode, as two
// tensors: name/bytes, the concatenated strings (U8), and name/offsets, the start
// of each string and the end of the last one (I64, one more than the strings).
func StringTensors(name string, values []string) []Tensor {
	offsets := make([]int64, 1, len(values)+1)
	total := 0
	for _, v := range values {
		total += len(v)
		offsets = append(offsets, int64(total))
	}
	text := make([]byte, 0, total)
	for _, v := range values {
		text = append(text, v...)
	}
	return []Tensor{NewTensor(name+"/bytes", text), NewTensor(name+"/offsets", offsets)}
}

// Strings returns the strings that StringTensors stored under that name. They
// share one allocation.
func (f *File) Strings(name string) ([]string, error) {
	data, err := Values[byte](f, name+"/bytes", -1)
	if err != nil {
		return nil, err
	}
	offsets, err := Values[int64](f, name+"/offsets", -1)
	if err != nil {
		return nil, err
	}
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != int64(len(data)) {
		return nil, fmt.Errorf("tensor %q does not span the %d bytes of %q", name+"/offsets", len(data), name+"/bytes")
	}
	text := string(data)
	values := make([]string, len(offsets)-1)
	for i := range values {
		begin, end := offsets[i], offsets[i+1]
		if begin > end || end > int64(len(text)) {
			return nil, fmt.Errorf("tensor %q decreases from %d to %d at index %d", name+"/offsets", begin, end, i)
		}
		values[i] = text[begin:end]
	}
	return values, nil
}

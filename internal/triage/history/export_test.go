package history

import (
	"io"
	"testing"
)

// Fails is whether a file that is read by r would be read again another time.
func Fails(r io.Reader) (problems []Problem, fails bool) {
	var c content
	c.read(r, "file", Grouping{})
	return c.Problems, c.failed
}

// Line is an entry as it is written.
func Line(t testing.TB, e Entry) []byte {
	t.Helper()
	_, raw, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

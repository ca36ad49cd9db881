package history

import "testing"

// Line is an entry as it is written.
func Line(t testing.TB, e Entry) []byte {
	t.Helper()
	_, raw, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

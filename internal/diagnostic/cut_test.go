package diagnostic_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"salve/internal/diagnostic"
)

// TestCut: as much as fits, to the byte, and whole characters alone.
func TestCut(t *testing.T) {
	for _, text := range []string{"", "ready", strings.Repeat("a", 100), strings.Repeat("é", 50), "aé完👩‍💻e\u0301 end",
		"\xff\xfeabc\xff"} {
		for most := range len(text) + 2 {
			got := diagnostic.Cut(text, most)
			if len(got) > most || !strings.HasPrefix(text, got) {
				t.Errorf("%q cut to %d bytes is %q", text, most, got)
			}
			if utf8.ValidString(text) && (!utf8.ValidString(got) || len(got) < min(most, len(text))-utf8.UTFMax+1) {
				t.Errorf("%q cut to %d bytes is %q", text, most, got)
			}
		}
	}
}

package grouping_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"salve/internal/triage/grouping"
)

// FuzzIdentify: any text has a well-formed key, which neither line ends nor numbers change.
func FuzzIdentify(f *testing.F) {
	for i, s := range samples() {
		f.Add(s.failure.Type, s.failure.Message, s.failure.Text, s.failure.File, uint8(i))
	}
	f.Fuzz(func(t *testing.T, class, message, text, file string, turn uint8) {
		failure := grouping.Failure{Type: class, Message: unix(message), Text: unix(text), File: file, Line: int(turn)}
		identity := grouping.Identify(failure)
		if version, ok := grouping.ParseKey(string(identity.Key)); !ok || version != grouping.Version {
			t.Errorf("key %q", identity.Key)
		}
		for _, shown := range []string{identity.Message, identity.Frame, identity.Place} {
			if len(shown) > 512 || !utf8.ValidString(shown) || strings.ContainsFunc(shown, unicode.IsControl) {
				t.Errorf("%q is shown", shown)
			}
		}
		for how, other := range map[string]grouping.Failure{
			"line ends": {Type: class, Message: dos(failure.Message), Text: dos(failure.Text), File: file, Line: failure.Line},
			"numbers": {
				Type: turned(class, turn), Message: turned(failure.Message, turn), Text: turned(failure.Text, turn),
				File: turned(file, turn), Line: failure.Line + 17,
			},
		} {
			if got := grouping.Identify(other); got.Key != identity.Key {
				t.Errorf("other %s:\n%#v\n%+v\n%#v\n%+v", how, failure, identity, other, got)
			}
		}
	})
}

func unix(s string) string { return strings.ReplaceAll(s, "\r", "") }
func dos(s string) string  { return strings.ReplaceAll(s, "\n", "\r\n") }

// turned has other digits in every number, identifier and time, but none before an x: that may begin a 0x.
func turned(s string, by uint8) string {
	out := []byte(s)
	for i, c := range out {
		prefix := i+1 < len(out) && out[i+1]|0x20 == 'x'
		if c >= '0' && c <= '9' && !prefix {
			out[i] = '0' + (c-'0'+by)%10
		}
	}
	return string(out)
}

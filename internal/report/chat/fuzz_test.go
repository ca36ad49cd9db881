package chat_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"salve/internal/report/chat"
)

// FuzzParse: whatever is pasted, nothing panics, and no control character comes through.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"# 2019-02-05\nAll times in PST\n\n>Name [8:27 AM]  \nhello (edited)\n", "Name\n  8:27 AM\nhello\n8:28\nmore\n",
		"[2019-02-05 08:27:33] <bob> hello\n", "[8:27 AM] Name\nhello\n", "a [14:05]\n```\n[08:12] x\n",
		`[{"user":"U1","ts":"1549384020.0001","text":"<@U1> x"}]`, "\x1b]0;x\x07a \x1b[31mb [8:27 " +
			"AM]\n", "Name 2/5/2019 8:27 AM\nx\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		export, err := chat.Parse(raw, chat.Options{})
		if err != nil {
			return
		}
		for _, m := range export.Messages {
			for _, text := range []string{m.Author, m.Text, m.Channel} {
				if !utf8.ValidString(text) || strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(text),
					unicode.IsControl) {
					t.Errorf("line %d: %q", m.Line, text)
				}
			}
			if !m.At.IsZero() && m.Date == "" || m.Clock.Hour > 23 || m.Line < 1 {
				t.Errorf("impossible message: %+v", m)
			}
		}
	})
}

package show

import (
	"bytes"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/triagetest"
)

// TestTitlesHoldNothingOfACredential: messages were masked for grouping, which leaves parts of it that nobody would
// know as a token.
func TestTitlesHoldNothingOfACredential(t *testing.T) {
	const said = "login with eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl as fleet denied"
	for name, group := range map[string]triage.Group{
		"in the example": {Example: triage.Excerpt{Text: "=== RUN TestLogin\n" + said + "\n--- FAIL"}},
		"in the evidence": {
			Evidence: []triage.Evidence{{Producer: "test log", Text: said}}, Example: triage.Excerpt{Text: "cut"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			group.Message = "login with eyJhbGciOi<id> SUzI<num>NiJ<num>, eyJzdWI<num> as fleet denied"
			group.Frame, group.Place = "login.eyJzdWI", "login_test.go:7"
			doc := triagetest.Outage()
			doc.Groups = append(doc.Groups, group)
			shown := map[string]string{"Markdown": Markdown(doc, Options{})}
			var text, page, program bytes.Buffer
			for _, err := range []error{
				Text(&text, doc, Style{Width: 110}), HTML(&page, doc, Options{}), JSON(&program, doc),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			shown["text"], shown["HTML"], shown["JSON"] = text.String(), page.String(), program.String()
			for format, out := range shown {
				for _, part := range []string{"eyJ", "SUzI", "NiJ"} {
					if strings.Contains(out, part) {
						t.Errorf("%s shows %s", format, part)
					}
				}
				if !strings.Contains(out, "login with [redacted] as fleet denied") {
					t.Errorf("%s has no title", format)
				}
				if !strings.Contains(out, "login\\_test.go:7") && !strings.Contains(out, "login_test.go:7") {
					t.Errorf("%s lost a place that holds nothing", format)
				}
			}
			if kept := Markdown(doc, Options{KeepSecrets: true}); !strings.Contains(kept, "eyJhbGciOi<id>") {
				t.Error("the title is changed for those who asked for secrets")
			}
		})
	}
}

package rollout_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

// said is what the log of a step with a secret has of a text.
func said(t *testing.T, secret, text string) string {
	t.Helper()
	folder, step := rollout.LogFolder(t.TempDir()), pipeline.StepID{ResourceGroup: "g", Step: "s"}
	log, err := folder.Open("run-1", step, 1)
	if err != nil {
		t.Fatal(err)
	}
	log.Hide(secret)
	if _, err := log.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(folder.Path("run-1", step))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestSecretsInBase64: whatever is encoded beside a secret, nothing of it is left.
func TestSecretsInBase64(t *testing.T) {
	for _, secret := range []string{"s3cr3t", "p~ss?w>rd", "hunter2hunter2hunter", "näh\xffmehr~~??>>"} {
		for _, encoding := range []*base64.Encoding{
			base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
		} {
			if got := said(t, secret, "X="+encoding.EncodeToString([]byte(secret))+";"); got != "X=***;" {
				t.Errorf("%q: %q", secret, got)
			}
			for _, before := range []string{"u", "us", "use", "user:"} {
				for _, after := range []string{"", "\n", "@h", "@host"} {
					got := said(t, secret, "Basic "+encoding.EncodeToString([]byte(before+secret+after)))
					part, rest, masked := strings.Cut(strings.TrimPrefix(got, "Basic "), "***")
					if !masked || len(part) > len(before)*8/6 || len(rest) > (len(after)*8+5)/6+2 {
						t.Errorf("%q after %q, before %q: %q", secret, before, after, got)
					}
				}
			}
		}
	}
}

func TestSecretsInOtherForms(t *testing.T) {
	long := strings.Repeat("0123456789abcdef~", 12)
	var wrapped strings.Builder
	for text := base64.StdEncoding.EncodeToString([]byte(long)); text != ""; text = text[min(76, len(text)):] {
		wrapped.WriteString(text[:min(76, len(text))] + "\n")
	}
	quoted, err := json.Marshal("a<b&c\"d\\e")
	if err != nil {
		t.Fatal(err)
	}
	for form, row := range map[string]struct{ secret, text, want string }{
		"a query":                 {"a b&c/d+e", "q=" + url.QueryEscape("a b&c/d+e"), "q=***"},
		"a path":                  {"a b&c/d+e", "/" + url.PathEscape("a b&c/d+e") + "/", "/***/"},
		"escapes in small digits": {"a b/c/d/e", "q=" + strings.ToLower(url.QueryEscape("a b/c/d/e")), "q=***"},
		"JSON":                    {"a<b&c\"d\\e", `{"v":` + string(quoted) + `}`, `{"v":"***"}`},
		"lines of base64":         {long, wrapped.String(), "***\n***\n***\n***\n"},
		"several lines":           {"first line\nother line", "Zmlyc3QgbGluZQpvdGhlciBsaW5l", "***"},
		"a secret within another": {"hush-hush", "hush-hush hush", "*** hush"},
		"a short one as it is":    {"abcd", "abcd YWJjZA==", "*** YWJjZA=="},
		"what looks alike":        {"s3cr3t", "czNjcjN0 czNjcjM0 s3cr3", "*** czNjcjM0 s3cr3"},
	} {
		if got := said(t, row.secret, row.text); got != row.want {
			t.Errorf("%s: %q, want %q", form, got, row.want)
		}
	}
}

package show

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"salve/internal/triage/triagetest"
)

func TestTextFitsItsColumns(t *testing.T) {
	for _, width := range []int{0, 40, 80, 100, 500} {
		for _, sample := range triagetest.Samples() {
			var out bytes.Buffer
			if err := Text(&out, sample.Document, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
			most := min(max(width, leastWidth), mostWidth)
			if width == 0 {
				most = 80
			}
			for line := range strings.Lines(out.String()) {
				if got := utf8.RuneCountInString(strings.TrimRight(line, "\n")); got > most {
					t.Errorf("%s at %d: %d columns: %q", sample.Name, width, got, line)
				}
			}
		}
	}
}

func TestTextIsNotObeyedByTerminals(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, triagetest.Hostile(), Style{}); err != nil {
		t.Fatal(err)
	}
	for _, char := range out.String() {
		if char != '\n' && (unicode.Is(unicode.Cc, char) || unicode.Is(unicode.Cf, char)) {
			t.Errorf("holds %U", char)
		}
	}
}

func TestColorsAreOnlyForTerminals(t *testing.T) {
	var without, with bytes.Buffer
	if err := Text(&without, triagetest.Outage(), Style{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&with, triagetest.Outage(), Style{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(without.String(), "\x1b") || !strings.Contains(with.String(), "\x1b[") {
		t.Error("colours where there should be none, or none where there should be some")
	}
	bare := with.String()
	for _, color := range []string{plain, bold, faint, red, green, yellow} {
		bare = strings.ReplaceAll(bare, color, "")
	}
	if bare != without.String() {
		t.Error("with colours another text than without")
	}
}

func TestSecretsAreShownNowhere(t *testing.T) {
	var text, program bytes.Buffer
	doc := triagetest.Hostile()
	if err := Text(&text, doc, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&program, doc); err != nil {
		t.Fatal(err)
	}
	kept := Markdown(doc, Options{KeepSecrets: true})
	for _, secret := range triagetest.Secrets() {
		for name, shown := range map[string]string{
			"text": text.String(), "JSON": program.String(), "Markdown": Markdown(doc, Options{}),
		} {
			if strings.Contains(shown, secret) {
				t.Errorf("%s shows %q", name, secret)
			}
		}
		if !strings.Contains(kept, secret) {
			t.Errorf("%q is kept from those who asked for it, or the sample lost it", secret)
		}
	}
}

func TestDocumentIsNotChanged(t *testing.T) {
	doc := triagetest.Hostile()
	if err := Text(&bytes.Buffer{}, doc, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&bytes.Buffer{}, doc); err != nil {
		t.Fatal(err)
	}
	Markdown(doc, Options{})
	if !reflect.DeepEqual(doc, triagetest.Hostile()) {
		t.Error("the caller's document was changed")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken pipe")

func TestFailedWritesAreErrors(t *testing.T) {
	for name, err := range map[string]error{
		"text": Text(broken{}, triagetest.Outage(), Style{}),
		"JSON": JSON(broken{}, triagetest.Outage()),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package lazyregexp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInvalidIsFoundAtOnceInTests, and where it is used elsewhere.
func TestInvalidIsFoundAtOnceInTests(t *testing.T) {
	panics := func(do func()) (said any) {
		defer func() { said = recover() }()
		do()
		return nil
	}
	if panics(func() { New("(") }) == nil {
		t.Error("an invalid expression is taken in a test")
	}
	invalid := lazy("(")
	if panics(func() { invalid.MatchString("") }) == nil {
		t.Error("an invalid expression matches")
	}
}

func TestMethodsAreThoseOfRegexp(t *testing.T) {
	const text = "lamp 12, lamp 7"
	r := New(`lamp (\d+)`)
	for name, pair := range map[string][2]any{
		"MatchString":                {r.MatchString(text), true},
		"FindString":                 {r.FindString(text), "lamp 12"},
		"FindStringIndex":            {r.FindStringIndex(text), []int{0, 7}},
		"FindStringSubmatch":         {r.FindStringSubmatch(text), []string{"lamp 12", "12"}},
		"FindStringSubmatchIndex":    {r.FindStringSubmatchIndex(text), []int{0, 7, 5, 7}},
		"FindAllString":              {r.FindAllString(text, -1), []string{"lamp 12", "lamp 7"}},
		"FindAllStringIndex":         {r.FindAllStringIndex(text, 1), [][]int{{0, 7}}},
		"FindAllStringSubmatch":      {r.FindAllStringSubmatch(text, -1), [][]string{{"lamp 12", "12"}, {"lamp 7", "7"}}},
		"FindAllStringSubmatchIndex": {r.FindAllStringSubmatchIndex(text, 1), [][]int{{0, 7, 5, 7}}},
		"ReplaceAllString":           {r.ReplaceAllString(text, "$1"), "12, 7"},
		"ReplaceAllStringFunc":       {r.ReplaceAllStringFunc(text, func(s string) string { return s[:4] }), "lamp, lamp"},
		"Split":                      {r.Split(text, -1), []string{"", ", ", ""}},
	} {
		if difference := cmp.Diff(pair[1], pair[0]); difference != "" {
			t.Errorf("%s: %s", name, difference)
		}
	}
}

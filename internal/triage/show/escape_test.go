package show

import (
	"strings"
	"testing"
)

func TestProseIsNothingButText(t *testing.T) {
	for name, row := range map[string]struct{ given, want string }{
		"plain words":              {"dial tcp: i/o timeout", "dial tcp: i/o timeout"},
		"a mention":                {"@octocat", "@&#8203;octocat"},
		"a reference":              {"o/r#12", "o/r#&#8203;12"},
		"a reference by GH":        {"see gh-12", "see gh-&#8203;12"},
		"a link":                   {"https://x", "https:&#8203;//x"},
		"a link without a scheme":  {"www.x.org", "www&#8203;.x.org"},
		"an emoji":                 {":tada:", ":&#8203;tada:"},
		"a time is not an emoji":   {"at 12:30:45", "at 12:30:45"},
		"an emoji of figures":      {":100:", ":&#8203;100:"},
		"a tag":                    {"<b>", "&lt;b&gt;"},
		"an entity":                {"&lt;", "&amp;lt;"},
		"a cell":                   {"a|b", "a&#124;b"},
		"a formula":                {"$x$", "&#36;x&#36;"},
		"a list":                   {"- x", `\- x`},
		"a numbered list":          {"12. x", `12\. x`},
		"another numbered list":    {"1) x", `1\) x`},
		"a heading":                {"# x", "#&#8203; x"},
		"the line under a heading": {"===", `\===`},
		"several lines":            {"a\n\n- b\n    c", "a - b c"},
		"emphasis and code":        {"*a* _b_ `c` ~d~", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~"},
		"a link's brackets":        {"[a](b)", `\[a\](b)`},
	} {
		if got := prose(row.given, 1000); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestTextsAreCutWithACount(t *testing.T) {
	for name, got := range map[string]string{
		"prose": prose(strings.Repeat("@", 1000), 200),
		"code":  code(strings.Repeat("é", 1000), 200),
		"fence": fence(strings.Repeat("é", 1000), 200),
	} {
		if len(got) > 260 || !strings.Contains(got, "more characters)") {
			t.Errorf("%s: %d bytes: %s", name, len(got), got)
		}
	}
	if got := prose(strings.Repeat("@", 25), 200); got != strings.Repeat("@&#8203;", 25) {
		t.Errorf("cut although it fits: %s", got)
	}
}

func TestCodeCanNotBeLeft(t *testing.T) {
	for given, want := range map[string]string{
		"a":       "`a`",
		"a`b":     "``a`b``",
		"`":       "`` ` ``",
		"a ``` b": "````a ``` b````",
		" \n":     "(none)",
	} {
		if got := code(given, 300); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if got := code(strings.Repeat("`", 500), 300); len(got) > 300 {
		t.Errorf("%d bytes", len(got))
	}
	for _, text := range []string{"```", "a\n`````\nb", "~~~~~~", "</details>"} {
		rail, _, _ := strings.Cut(fence(text, 1000), "text\n")
		if len(rail) < 3 || strings.Contains(text, rail) || len(rail) <= longest(text, '~') {
			t.Errorf("the fence of %q is %q", text, rail)
		}
	}
}

func TestMarkerCanNotBeClosed(t *testing.T) {
	for given, want := range map[string]string{
		"pr-12/7":          "<!-- salve-triage build=pr-12/7 digest=d -->",
		"--> <b>":          "<!-- salve-triage build=-%2D%3E%20%3Cb%3E digest=d -->",
		"a\nb digest=evil": "<!-- salve-triage build=a%0Ab%20digest%3Devil digest=d -->",
		"é":                "<!-- salve-triage build=%C3%A9 digest=d -->",
	} {
		if got := Marker(given, "d"); got != want {
			t.Errorf("%q: %s", given, got)
		}
	}
	if got := Marker(strings.Repeat("x", 9999), ""); len(got) > mostMarker+60 {
		t.Errorf("%d bytes", len(got))
	}
}

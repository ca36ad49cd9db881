package console

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// obeyedBy tells whether a host finds a command in an output, as its own program looks for them.
func obeyedBy(output string) string {
	for _, line := range strings.FieldsFunc(output, func(char rune) bool { return char == '\n' || char == '\r' }) {
		seen := strings.Map(func(char rune) rune {
			if invisible(char) {
				return -1
			}
			return char
		}, strings.ToLower(line))
		if strings.HasPrefix(strings.TrimSpace(seen), "::") || strings.Contains(seen, "##[") ||
			strings.Contains(seen, "##vso[") {
			return line
		}
	}
	return ""
}

// TestCommandFilter: what a host would obey loses its power, what it doesn't stays as it is.
func TestCommandFilter(t *testing.T) {
	for text, want := range map[string]string{
		"::error::owned":                           `:\u003aerror::owned`,
		" \t\u3000::set-output name=a::b":          " \t\u3000:\\u003aset-output name=a::b",
		"fine\n::add-mask::x":                      "fine\n:\\u003aadd-mask::x",
		"a\r::stop-commands::x":                    "a\r:\\u003astop-commands::x",
		":\u200d:error::":                          ":\u200d\\u003aerror::",
		"##[error]owned":                           `##\u005berror]owned`,
		"x ##vso[task.setvariable variable=a]b":    `x ##vso\u005btask.setvariable variable=a]b`,
		"###VSO[task.complete]":                    `###VSO\u005btask.complete]`,
		"##v##vso[a]":                              `##v##vso\u005ba]`,
		"##vs\u0301o[a]":                           "##vs\u0301o\\u005ba]",
		"{\"reason\": \"##vso[a]\"}":               `{"reason": "##vso\u005ba]"}`,
		"::1 is at the beginning":                  `:\u003a1 is at the beginning`,
		"fe80::1, Microsoft::Thing, a #[b], # [c]": "fe80::1, Microsoft::Thing, a #[b], # [c]",
		"## Heading\n### vso [x]\n:one":            "## Heading\n### vso [x]\n:one",
	} {
		if got := new(CommandFilter).Filter(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzCommandFilter: no command is left, in however many pieces it was written.
func FuzzCommandFilter(f *testing.F) {
	for _, seed := range []string{"::error::x", "##vso[a]", "###[x", "a\n \u200d:\u0301:b", "##v#", "\r::"} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if !utf8.ValidString(text) {
			t.Skip("streams write whole characters")
		}
		whole := new(CommandFilter).Filter(text)
		if line := obeyedBy(whole); line != "" {
			t.Errorf("%q is obeyed", line)
		}
		filter, pieces := &CommandFilter{}, ""
		runes := []rune(text)
		for step := max(1, piece%7); len(runes) > 0; runes = runes[min(step, len(runes)):] {
			pieces += filter.Filter(string(runes[:min(step, len(runes))]))
		}
		if pieces != whole {
			t.Errorf("in pieces %q, else %q", pieces, whole)
		}
	})
}

// TestCommandsOfHosts: what is ours, with texts of others in it.
func TestCommandsOfHosts(t *testing.T) {
	const hostile = "100%, a:b\n::error::owned\r##vso[task.complete]"
	for _, row := range []struct{ name, got, want string }{
		{"a group of GitHub", GitHubActions.open(hostile),
			`::group::100%25, a:b%0A:\u003aerror::owned%0D##vso\u005btask.complete]`},
		{"an annotation of GitHub", GitHubActions.mark(failure, "drain: a,b", hostile),
			`::error title=drain%3A a%2Cb::100%25, a:b%0A:\u003aerror::owned%0D##vso\u005btask.complete]`},
		{"a warning of GitHub", GitHubActions.mark(warning, "drain", "x"), "::warning title=drain::x"},
		{"a notice of GitHub", GitHubActions.mark(notice, "run", "x"), "::notice title=run::x"},
		{"a group of Azure", AzurePipelines.open(hostile),
			`##[group]100%AZP25, a:b%0A:\u003aerror::owned%0D##vso\u005btask.complete]`},
		{"an issue of Azure", AzurePipelines.mark(failure, "drain", hostile),
			`##vso[task.logissue type=error]drain: 100%AZP25, a:b%0A:\u003aerror::owned%0D##vso\u005btask.complete]`},
		{"Azure has no notices", AzurePipelines.mark(notice, "run", "x"), ""},
		{"nowhere", NoHost.open("x") + NoHost.end() + NoHost.mark(failure, "x", "y"), ""},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q, want %q", row.name, row.got, row.want)
		}
	}
}

// TestHostOf: only where it says so itself.
func TestHostOf(t *testing.T) {
	for _, row := range []struct {
		name, value string
		want        Host
	}{
		{"GITHUB_ACTIONS", "true", GitHubActions}, {"GITHUB_ACTIONS", "false", NoHost}, {"TF_BUILD", "True", AzurePipelines},
		{"CI", "true", NoHost},
	} {
		lookup := func(name string) string { return map[string]string{row.name: row.value}[name] }
		if got := HostOf(lookup); got != row.want {
			t.Errorf("%s=%s: %d, want %d", row.name, row.value, got, row.want)
		}
	}
}

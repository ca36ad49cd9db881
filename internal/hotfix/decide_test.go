package hotfix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// rule is one rule of the decision: a node, a pointer, and what follows.
type rule struct {
	name    string
	current string // 202604.01.1 unless it is said
	pointer string
	want    string // the target, or the reason why there is none
	scripts string // the target of the scripts, if there is one
}

func (r rule) node() string {
	if r.current == "" {
		return "202604.01.1"
	}
	return r.current
}

// twoVersions are the rules about a node's version and one target, which a legacy
// pointer and a map share. The names of a pair are the test's own words.
var twoVersions = []struct{ name, current, target, want string }{
	{"the next patch", "202604.01.1", "202604.01.2", "202604.01.2"},
	{"a patch far ahead", "202604.01.1", "202604.01.999999999", "202604.01.999999999"},
	{"from patch zero", "202604.01.0", "202604.01.1", "202604.01.1"},
	{"patches are numbers, not texts", "202604.01.9", "202604.01.10", "202604.01.10"},
	{"patches are numbers, downwards too", "202604.01.10", "202604.01.9", "not-higher"},
	{"the same patch", "202604.01.1", "202604.01.1", "not-higher"},
	{"a lower patch", "202604.01.2", "202604.01.1", "not-higher"},
	{"patch zero", "202604.01.1", "202604.01.0", "not-higher"},
	{"another day", "202604.01.1", "202604.02.2", "base-mismatch"},
	{"another month", "202604.01.1", "202605.01.2", "base-mismatch"},
	{"an earlier base", "202604.01.1", "202603.28.9", "base-mismatch"},
	{"bases aren't calendar dates", "209999.99.1", "209999.99.2", "209999.99.2"},
	{"the base's leading zero is kept", "202604.01.1", "202604.1.2", "target-malformed"},
	{"a suffix is part of the target", "202604.01.1", "202604.01.2-ubuntu24.04u1", "202604.01.2-ubuntu24.04u1"},
	{"a suffix makes nothing higher", "202604.01.1", "202604.01.1-u2", "not-higher"},
	{"a suffix makes nothing lower", "202604.01.1-u2", "202604.01.1", "not-higher"},
	{"another suffix is no reason", "202604.01.1-u1", "202604.01.1-u2", "not-higher"},
	{"the node may have a suffix", "202604.01.1-ubuntu22.04u3", "202604.01.2", "202604.01.2"},
	{"the shortest suffix", "202604.01.1", "202604.01.2-a", "202604.01.2-a"},
	{"the longest suffix", "202604.01.1", "202604.01.2-" + strings.Repeat("a", 40), "202604.01.2-" +
		strings.Repeat("a", 40)},
	{"a suffix of dots", "202604.01.1", "202604.01.2-..", "202604.01.2-.."},
	{"a longer suffix", "202604.01.1", "202604.01.2-" + strings.Repeat("a", 41), "target-malformed"},
	{"an empty suffix", "202604.01.1", "202604.01.2-", "target-malformed"},
	{"two suffixes", "202604.01.1", "202604.01.2-a-b", "target-malformed"},
	{"a suffix with a plus", "202604.01.1", "202604.01.2-a+b", "target-malformed"},
	{"a suffix with a tilde", "202604.01.1", "202604.01.2-a~b", "target-malformed"},
	{"a suffix with an underscore", "202604.01.1", "202604.01.2-a_b", "target-malformed"},
	{"a suffix with a slash", "202604.01.1", "202604.01.2-../../etc", "target-malformed"},
	{"a suffix with a letter of others", "202604.01.1", "202604.01.2-é", "target-malformed"},
	{"spaces around the target", "202604.01.1", "  202604.01.2\t\n", "202604.01.2"},
	{"spaces around the node's version", " 202604.01.1\n", "202604.01.2", "202604.01.2"},
	{"a space inside of the target", "202604.01.1", "202604.01. 2", "target-malformed"},
	{"a v before the target", "202604.01.1", "v202604.01.2", "target-malformed"},
	{"two segments", "202604.01.1", "202604.01", "target-malformed"},
	{"two segments and a dot", "202604.01.1", "202604.01.", "target-malformed"},
	{"four segments", "202604.01.1", "202604.01.2.3", "target-malformed"},
	{"a leading zero of the patch", "202604.01.1", "202604.01.02", "target-malformed"},
	{"a patch of two zeros", "202604.01.1", "202604.01.00", "target-malformed"},
	{"a patch of ten digits", "202604.01.1", "202604.01.1000000000", "target-malformed"},
	{"a negative patch", "202604.01.1", "202604.01.-2", "target-malformed"},
	{"a patch with a sign", "202604.01.1", "202604.01.+2", "target-malformed"},
	{"a hexadecimal patch", "202604.01.1", "202604.01.0x2", "target-malformed"},
	{"a patch with an exponent", "202604.01.1", "202604.01.1e3", "target-malformed"},
	{"a month of five digits", "202604.01.1", "20260.01.2", "target-malformed"},
	{"a month of seven digits", "202604.01.1", "2026040.01.2", "target-malformed"},
	{"a day of three digits", "202604.01.1", "202604.001.2", "target-malformed"},
	{"digits of others", "202604.01.1", "202604.01.٢", "target-malformed"},
	{"wide digits", "202604.01.1", "２０２６０４.01.2", "target-malformed"},
	{"build metadata", "202604.01.1", "202604.01.2+build", "target-malformed"},
	{"a tilde", "202604.01.1", "202604.01.2~1", "target-malformed"},
	{"an epoch", "202604.01.1", "1:202604.01.2", "target-malformed"},
	{"a wildcard", "202604.01.1", "202604.01.*", "target-malformed"},
	{"a word", "202604.01.1", "latest", "target-malformed"},
	{"dashes for dots", "202604.01.1", "202604-01-2", "target-malformed"},
	{"a zero byte", "202604.01.1", "202604.01.2\x00", "target-malformed"},
	{"a node without a version", "", "202604.01.2", "current-malformed"},
	{"a node of blanks", "  ", "202604.01.2", "current-malformed"},
	{"a node of developers", "dev", "202604.01.2", "current-malformed"},
	{"a node with a v", "v202604.01.1", "202604.01.2", "current-malformed"},
	{"a node of two segments", "202604.01", "202604.01.2", "current-malformed"},
	{"a node of four segments", "202604.01.1.0", "202604.01.2", "current-malformed"},
	{"a node with a leading zero", "202604.01.01", "202604.01.2", "current-malformed"},
	{"a node with build metadata", "202604.01.1+1", "202604.01.2", "current-malformed"},
	{"a node with a short day", "202604.1.1", "202604.01.2", "current-malformed"},
	{"a node that is malformed, like its target", "dev", "latest", "current-malformed"},
}

// TestTwoVersions runs each pair through «version», through «hotfixes» and through
// «scripts_version»: the gate is the same.
func TestTwoVersions(t *testing.T) {
	for _, row := range twoVersions {
		t.Run(row.name, func(t *testing.T) {
			target := quoted(row.target)
			expect(t, row.current, `{"version": `+target+`}`, row.want, "")
			scripts, reason := row.want, "no-version"
			if !strings.HasPrefix(row.want, "20") {
				scripts = ""
			}
			expect(t, row.current, `{"scripts_version": `+target+`}`, reason, scripts)
			base := strings.TrimSpace(row.current)
			if len(base) < 9 || row.want == "current-malformed" {
				base = "202604.01"
			}
			expect(t, row.current, fmt.Sprintf(`{"hotfixes": {%q: %s}}`, base[:9], target), row.want, "")
		})
	}
}

// pointers are the rules about the file.
var pointers = []rule{
	{name: "an empty object", pointer: `{}`, want: "no-version"},
	{name: "an empty version", pointer: `{"version": ""}`, want: "no-version"},
	{name: "a version of blanks", pointer: `{"version": "  "}`, want: "no-version"},
	{name: "null is absent", pointer: `{"version": null}`, want: "no-version"},
	{name: "null everywhere", pointer: `{"version": null, "hotfixes": null, "scripts_version": null, "artifacts": null}`,
		want: "no-version"},
	{name: "a number for a version", pointer: `{"version": 2}`, want: "target-malformed"},
	{name: "a list for a version", pointer: `{"version": ["202604.01.2"]}`, want: "target-malformed"},
	{name: "an object for a version", pointer: `{"version": {"v": "202604.01.2"}}`, want: "target-malformed"},
	{name: "true for a version", pointer: `{"version": true}`, want: "target-malformed"},
	{name: "a version given twice", pointer: `{"version": "202604.01.2", "version": "202604.01.2"}`,
		want: "target-malformed"},
	{name: "a version given twice, once as null", pointer: `{"version": null, "version": "202604.01.2"}`,
		want: "target-malformed"},
	{name: "a version given twice, hidden by an escape",
		pointer: `{"version": "202604.01.2", "\u0076ersion": "202604.01.3"}`, want: "target-malformed"},
	{name: "an unknown field", pointer: `{"comment": "x", "version": "202604.01.2"}`, want: "202604.01.2"},
	{name: "an unknown field given twice", pointer: `{"comment": 1, "comment": 2, "version": "202604.01.2"}`,
		want: "202604.01.2"},
	{name: "names match exactly: vrsn", pointer: `{"vrsn": "202604.01.2"}`, want: "no-version"},
	{name: "another name beside version", pointer: `{"old_version": "202604.01.3", "version": "202604.01.2"}`,
		want: "202604.01.2"},

	{name: "the map replaces the version", pointer: `{"version": "202604.01.9", "hotfixes": {"202604.01": "202604.01.2"}}`,
		want: "202604.01.2"},
	{name: "the order of fields is nothing",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2"}, "version": "202604.01.9"}`, want: "202604.01.2"},
	{name: "default deny: another base alone", pointer: `{"hotfixes": {"202605.01": "202605.01.2"}}`,
		want: "base-not-listed"},
	{name: "default deny: no way back to the version",
		pointer: `{"version": "202604.01.2", "hotfixes": {"202605.01": "202605.01.2"}}`, want: "base-not-listed"},
	{name: "default deny: no way back from a lower one",
		pointer: `{"version": "202604.01.2", "hotfixes": {"202604.01": "202604.01.1"}}`, want: "not-higher"},
	{name: "default deny: no way back from a malformed one",
		pointer: `{"version": "202604.01.2", "hotfixes": {"202604.01": "x"}}`, want: "target-malformed"},
	{name: "an empty map leaves the version in force", pointer: `{"version": "202604.01.2", "hotfixes": {}}`,
		want: "202604.01.2"},
	{name: "a null map leaves the version in force", pointer: `{"version": "202604.01.2", "hotfixes": null}`,
		want: "202604.01.2"},
	{name: "an empty map alone", pointer: `{"hotfixes": {}}`, want: "no-version"},
	{name: "one of many bases",
		pointer: `{"hotfixes": {"202603.01": "202603.01.2", "202604.01": "202604.01.3", "202605.01": "202605.01.4"}}`,
		want:    "202604.01.3"},
	{name: "an entry of another base's version", pointer: `{"hotfixes": {"202604.01": "202605.01.2"}}`,
		want: "base-mismatch"},
	{name: "an empty entry says none", pointer: `{"version": "202604.01.2", "hotfixes": {"202604.01": ""}}`,
		want: "explicitly-none"},
	{name: "an entry of blanks says none", pointer: `{"hotfixes": {"202604.01": " \t"}}`, want: "explicitly-none"},
	{name: "a null entry says none", pointer: `{"hotfixes": {"202604.01": null}}`, want: "explicitly-none"},
	{name: "a null entry of another base makes a map of one",
		pointer: `{"version": "202604.01.2", "hotfixes": {"202605.01": null}}`, want: "base-not-listed"},
	{name: "an entry of a wrong type", pointer: `{"hotfixes": {"202604.01": 2}}`, want: "target-malformed"},
	{name: "a wrong type elsewhere is no matter", pointer: `{"hotfixes": {"202605.01": 2, "202604.01": "202604.01.2"}}`,
		want: "202604.01.2"},
	{name: "a malformed version elsewhere is no matter",
		pointer: `{"hotfixes": {"202605.01": "v1", "202604.01": "202604.01.2"}}`, want: "202604.01.2"},
	{name: "an object elsewhere is no matter",
		pointer: `{"hotfixes": {"202605.01": {"a": []}, "202604.01": "202604.01.2"}}`, want: "202604.01.2"},
	{name: "a malformed legacy version is no matter", pointer: `{"version": 7, "hotfixes": {"202604.01": "202604.01.2"}}`,
		want: "202604.01.2"},
	{name: "keys are literal: blanks around", pointer: `{"hotfixes": {" 202604.01 ": "202604.01.2"}}`,
		want: "base-not-listed"},
	{name: "keys are literal: no leading zeros", pointer: `{"hotfixes": {"20264.1": "202604.01.2"}}`,
		want: "base-not-listed"},
	{name: "keys are literal: a whole version", pointer: `{"hotfixes": {"202604.01.1": "202604.01.2"}}`,
		want: "base-not-listed"},
	{name: "keys are literal: an escape is the same text", pointer: `{"hotfixes": {"\u0032\u00302604.01": "202604.01.2"}}`,
		want: "202604.01.2"},
	{name: "a malformed key makes a map", pointer: `{"version": "202604.01.2", "hotfixes": {"*": "202604.01.2"}}`,
		want: "base-not-listed"},
	{name: "this base given twice", pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604.01": "202604.01.2"}}`,
		want: "target-malformed"},
	{name: "this base given twice, once as none", pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604.01": ""}}`,
		want: "target-malformed"},
	{name: "another base given twice is no matter",
		pointer: `{"hotfixes": {"202605.01": "x", "202605.01": "y", "202604.01": "202604.01.2"}}`, want: "202604.01.2"},
	{name: "the map given twice",
		pointer: `{"version": "202604.01.2", "hotfixes": {"202604.01": "202604.01.2"}, "hotfixes": {"202604.01": "202604.01.2"}}`, want: "malformed-pointer"},
	{name: "the map given twice, once as null", pointer: `{"version": "202604.01.2", "hotfixes": null, "hotfixes": {}}`,
		want: "malformed-pointer"},
	{name: "a list for the map", pointer: `{"version": "202604.01.2", "hotfixes": []}`, want: "malformed-pointer"},
	{name: "a text for the map", pointer: `{"version": "202604.01.2", "hotfixes": "202604.01.2"}`,
		want: "malformed-pointer"},
	{name: "an empty text for the map", pointer: `{"version": "202604.01.2", "hotfixes": ""}`, want: "malformed-pointer"},
	{name: "a number for the map", pointer: `{"version": "202604.01.2", "hotfixes": 0}`, want: "malformed-pointer"},
	{name: "false for the map", pointer: `{"version": "202604.01.2", "hotfixes": false}`, want: "malformed-pointer"},
	{name: "a node without a version, and a map", current: "dev", pointer: `{"hotfixes": {"202604.01": "202604.01.2"}}`,
		want: "current-malformed"},
	{name: "a node without a version, and no hotfix", current: "dev", pointer: `{}`, want: "no-version"},

	{name: "scripts on their own", pointer: `{"scripts_version": "202604.01.2"}`, want: "no-version",
		scripts: "202604.01.2"},
	{name: "scripts beside the program", pointer: `{"version": "202604.01.3", "scripts_version": "202604.01.2"}`,
		want: "202604.01.3", scripts: "202604.01.2"},
	{name: "scripts when the program is denied",
		pointer: `{"hotfixes": {"202605.01": "202605.01.2"}, "scripts_version": "202604.01.2"}`, want: "base-not-listed",
		scripts: "202604.01.2"},
	{name: "scripts when the map is of no use", pointer: `{"hotfixes": 1, "scripts_version": "202604.01.2"}`,
		want: "malformed-pointer", scripts: "202604.01.2"},
	{name: "scripts of a wrong type do not matter to the program",
		pointer: `{"version": "202604.01.2", "scripts_version": 3}`, want: "202604.01.2"},
	{name: "scripts given twice do not matter to the program",
		pointer: `{"version": "202604.01.2", "scripts_version": "202604.01.2", "scripts_version": "202604.01.2"}`,
		want:    "202604.01.2"},
	{name: "scripts of another base", pointer: `{"version": "202604.01.2", "scripts_version": "202605.01.2"}`,
		want: "202604.01.2"},
	{name: "scripts that aren't higher", pointer: `{"version": "202604.01.2", "scripts_version": "202604.01.1"}`,
		want: "202604.01.2"},
	{name: "artifacts of a wrong type do not matter to the decision",
		pointer: `{"version": "202604.01.2", "artifacts": 3}`, want: "202604.01.2"},

	{name: "nothing but blanks around", pointer: " \n\t{\"version\": \"202604.01.2\"}\r\n ", want: "202604.01.2"},
	{name: "a byte order mark", pointer: "\xef\xbb\xbf{\"version\": \"202604.01.2\"}", want: "malformed-pointer"},
	{name: "UTF-16", pointer: "\xff\xfe{\x00}\x00", want: "malformed-pointer"},
	{name: "a stray byte", pointer: "{\"comment\": \"\xff\", \"version\": \"202604.01.2\"}", want: "malformed-pointer"},
	{name: "cut off", pointer: `{"version": "202604.01.2"`, want: "malformed-pointer"},
	{name: "a comma too many", pointer: `{"version": "202604.01.2",}`, want: "malformed-pointer"},
	{name: "a comment", pointer: `{"version": "202604.01.2"} // mine`, want: "malformed-pointer"},
	{name: "two objects", pointer: `{"version": "202604.01.2"}{}`, want: "malformed-pointer"},
	{name: "a list", pointer: `[{"version": "202604.01.2"}]`, want: "malformed-pointer"},
	{name: "a text", pointer: `"202604.01.2"`, want: "malformed-pointer"},
	{name: "null", pointer: `null`, want: "malformed-pointer"},
	{name: "YAML", pointer: "version: 202604.01.2\n", want: "malformed-pointer"},
	{name: "as deep as allowed", pointer: `{"version": "202604.01.2", "x": ` + strings.Repeat("[", 31) +
		strings.Repeat("]", 31) + `}`, want: "202604.01.2"},
	{name: "one deeper", pointer: `{"version": "202604.01.2", "x": ` + strings.Repeat("[", 32) + strings.Repeat("]", 32) +
		`}`, want: "malformed-pointer"},
	{name: "brackets in a text are not deep", pointer: `{"version": "202604.01.2", "x": "` + strings.Repeat("[", 100) +
		`\"{"}`, want: "202604.01.2"},
	{name: "as large as allowed", pointer: sized(hotfix.MaxPointerSize), want: "202604.01.2"},
	{name: "one byte larger", pointer: sized(hotfix.MaxPointerSize + 1), want: "unreadable-pointer"},
	{name: "an empty file", pointer: "", want: "empty-pointer"},
	{name: "a file of blanks", pointer: " \n\t\r\n", want: "empty-pointer"},
}

func sized(bytes int) string {
	const text = `{"version": "202604.01.2"}`
	return text + strings.Repeat(" ", bytes-len(text))
}

// TestReasonsForSomebodyToLookAt: what names nothing for a node is quiet, and what could not be followed is not.
func TestReasonsForSomebodyToLookAt(t *testing.T) {
	quiet := []hotfix.Reason{"install", "no-pointer", "empty-pointer", "no-version", "base-not-listed", "explicitly-none",
		"base-mismatch", "not-higher", "not-in-canary"}
	for _, reason := range hotfix.Reasons() {
		if want := !slices.Contains(quiet, reason); reason.Refuses() != want {
			t.Errorf("%s: %v, want %v", reason, reason.Refuses(), want)
		}
	}
}

package hotfix_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// misspelt are the rules about names that differ from a known one only in case or by
// one character: nothing is done that such a name could have been meant to prevent.
// The node has version 202604.01.1; docs/node-hotfix.md has this table in words.
var misspelt = []rule{
	{name: "a map that isn't one denies the version", pointer: `{"Hotfixes": {}, "version": "202604.01.2"}`,
		want: "misspelt-name"},
	{name: "in capitals", pointer: `{"HOTFIXES": {"202604.01": "202604.01.2"}}`, want: "misspelt-name"},
	{name: "without a letter", pointer: `{"hotfixs": {}, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "with a letter too much", pointer: `{"hotfixess": {}, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "with another letter", pointer: `{"hotfixez": {}, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "with two letters in each other's place", pointer: `{"hotifxes": {}, "version": "202604.01.2"}`,
		want: "misspelt-name"},
	{name: "with two of them, and a capital", pointer: `{"Hotifxes": {}, "version": "202604.01.2"}`,
		want: "misspelt-name"},
	{name: "with a blank", pointer: `{"hotfixes ": {}, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "with a letter of others", pointer: `{"hotfıxes": {}, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "beside the map, for it may have taken back what that says",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2"}, "Hotfixes": {"202604.01": ""}}`, want: "misspelt-name"},
	{name: "even when it is null", pointer: `{"Hotfixes": null, "version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "a broken map says more", pointer: `{"hotfixes": [], "Hotfixes": {}}`, want: "malformed-pointer"},
	{name: "the map is no matter to the scripts", pointer: `{"Hotfixes": {}, "scripts_version": "202604.01.2"}`,
		want: "misspelt-name", scripts: "202604.01.2"},
	{name: "two letters are another name", pointer: `{"hotfix": {}, "version": "202604.01.2"}`, want: "202604.01.2"},

	{name: "a version that isn't one", pointer: `{"Version": "202604.01.2"}`, want: "misspelt-name"},
	{name: "a version that isn't one, beside the version", pointer: `{"version": "202604.01.2", "verion": ""}`,
		want: "misspelt-name"},
	{name: "a version that isn't one is no matter to a map, which replaces it",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2"}, "Version": ""}`, want: "202604.01.2"},
	{name: "a version that isn't one is no matter to a map of others",
		pointer: `{"hotfixes": {"202605.01": "202605.01.2"}, "Version": "202604.01.2"}`, want: "base-not-listed"},

	{name: "scripts that aren't", pointer: `{"version": "202604.01.2", "script_version": "202604.01.2"}`,
		want: "202604.01.2"},
	{name: "scripts that aren't, beside the scripts",
		pointer: `{"version": "202604.01.2", "scripts_version": "202604.01.2", "scripts_Version": ""}`, want: "202604.01.2"},
	{name: "artifacts that aren't matter to fetching alone",
		pointer: `{"version": "202604.01.2", "Artifacts": {}}`, want: "202604.01.2"},

	{name: "a base without its zero", pointer: `{"hotfixes": {"202604.1": "202604.01.2"}}`, want: "misspelt-name"},
	{name: "a base that isn't one, beside the base",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604.0l": ""}}`, want: "misspelt-name"},
	{name: "a base without its dot, beside the base",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "20260401": null}}`, want: "misspelt-name"},
	{name: "a base that isn't one, and says something else than a version",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604-01": 7}}`, want: "misspelt-name"},
	{name: "a base that isn't one, and by its version is another",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604.1": "202604.10.3"}}`, want: "202604.01.2"},
	{name: "another base is never a mistake",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202604.02": "", "202604.10": "", "202614.01": ""}}`,
		want:    "202604.01.2"},
	{name: "a base that isn't one, far from this one",
		pointer: `{"hotfixes": {"202604.01": "202604.01.2", "202699.9": ""}}`, want: "202604.01.2"},
}

func TestNamesThatAreNearlyKnownOnes(t *testing.T) {
	for _, row := range misspelt {
		t.Run(row.name, func(t *testing.T) {
			expect(t, row.node(), row.pointer, row.want, row.scripts)
			pointer, err := hotfix.ParsePointer([]byte(row.pointer))
			check(t, err)
			harmless := row.name == "another base is never a mistake" || row.name == "two letters are another name"
			if warned := len(pointer.Warnings()) > 0; warned == harmless {
				t.Errorf("warnings: %v", pointer.Warnings())
			}
		})
	}
}

// TestArtifactsOfNamesThatAreNearlyKnownOnes: what is not sure to be meant is not
// fetched, and the package repository is not asked instead.
func TestArtifactsOfNamesThatAreNearlyKnownOnes(t *testing.T) {
	const good = `{"url": "https://example.com/node", "sha256": "` +
		"abababababababababababababababababababababababababababababababab" + `", "size": 7, "format": "deb"}`
	without := strings.Replace(good, "url", "Url", 1)
	for title, row := range map[string]struct {
		pointer string
		says    string // of the error; "found" or "none" where there is none
	}{
		"artifacts that aren't":                      {`{"Artifacts": {"202604.01": {"amd64": %s}}}`, "may be meant to be artifacts"},
		"artifacts that aren't, beside them":         {`{"artifact": {}, "artifacts": {"202604.01": {"amd64": %s}}}`, "may be meant"},
		"a base that isn't one":                      {`{"artifacts": {"202604.1": {"amd64": %s}}}`, `"202604.1" may be meant`},
		"a base that isn't one, beside the base":     {`{"artifacts": {"202604.0I": {}, "202604.01": {"amd64": %s}}}`, "may be meant"},
		"another base beside the base":               {`{"artifacts": {"202604.02": {}, "202604.01": {"amd64": %s}}}`, "found"},
		"an architecture in capitals":                {`{"artifacts": {"202604.01": {"AMD64": %s}}}`, `"AMD64" may be meant`},
		"an architecture with letters exchanged":     {`{"artifacts": {"202604.01": {"amd64": %s, "adm64": {}}}}`, "may be meant"},
		"another architecture is never a mistake":    {`{"artifacts": {"202604.01": {"amd64": %s, "arm64": {}}}}`, "found"},
		"another architecture alone":                 {`{"artifacts": {"202604.01": {"arm64": %s}}}`, "none"},
		"the name that Debian's packages have":       {`{"artifacts": {"202604.01": {"x86_64": %s}}}`, "none"},
		"an address that isn't one":                  {`{"artifacts": {"202604.01": {"amd64": ` + without + `}}}`, `"Url" may be meant`},
		"an address that isn't one, beside the rest": {`{"artifacts": {"202604.01": {"amd64": {"uri": 1, ` + good[1:] + `}}}`, `"uri" may be`},
		"a digest that isn't one":                    {`{"artifacts": {"202604.01": {"amd64": {"SHA-256": 1, ` + good[1:] + `}}}`, `"SHA-256" may be`},
	} {
		for _, signed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, signed %t", title, signed), func(t *testing.T) {
				text := row.pointer
				if strings.Contains(text, "%s") {
					text = fmt.Sprintf(text, good)
				}
				pointer, err := hotfix.ParsePointer([]byte(text))
				check(t, err)
				pointer = pointer.By(hotfix.Provenance{Signed: signed, Hosts: []string{"example.com"}})
				_, found, err := pointer.Artifact("202604.01", "amd64")
				got := map[bool]string{true: "found", false: "none"}[found]
				if err != nil {
					got = err.Error()
				}
				if !strings.Contains(got, row.says) {
					t.Errorf("%s, want %s", got, row.says)
				}
			})
		}
	}
}

// TestAServedMapWithMisspeltNames does not get into the pointer file.
func TestAServedMapWithMisspeltNames(t *testing.T) {
	for _, served := range []string{`{"Hotfixes": {"202604.01": "202604.01.2"}}`,
		`{"hotfixes": {"202604.01": "202604.01.2", "202604.1": ""}}`,
		`{"hotfixes": {"202604.01": "202604.01.2"}, "hotfixez": {}}`} {
		merged, err := hotfix.Merge("202604.01.1", nil, []byte(served))
		if err != nil || merged.Document != nil || merged.Served.Reason != hotfix.ReasonMisspelt {
			t.Errorf("%s: %s, %q, %v", served, merged.Served.Reason, merged.Document, err)
		}
	}
	merged, err := hotfix.Merge("202604.01.1", []byte(`{"Hotfixes": {}}`), []byte(`{"hotfixes": {"202604.01": "202604.01.2"}}`))
	if err == nil || merged.Document != nil {
		t.Errorf("a file that would mean something else is written: %q, %v", merged.Document, err)
	}
}

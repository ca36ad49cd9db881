package hotfix_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

func TestArtifacts(t *testing.T) {
	const base = "202604.01"
	digest := strings.Repeat("ab", 32)
	good := fmt.Sprintf(`{"url": "https://example.com/node", "sha256": %q, "size": 7, "format": "deb"}`, digest)
	in := func(artifact string) string { return `{"202604.01": {"amd64": ` + artifact + `}}` }
	with := func(old, other string) string { return in(strings.Replace(good, old, other, 1)) }
	for name, row := range map[string]struct{ artifacts, says string }{
		"all is there":                  {in(good), "found"},
		"over HTTP":                     {with("https", "http"), "found"},
		"an unknown field":              {with("{", `{"note": 1, `), "found"},
		"none at all":                   {`null`, "none"},
		"none for the base":             {`{"202605.01": 1}`, "none"},
		"none for the architecture":     {`{"202604.01": {"arm64": 1}}`, "none"},
		"null for the architecture":     {in("null"), "none"},
		"bases are literal":             {`{"20264.1": 1}`, "none"},
		"a list":                        {`[]`, "not an object"},
		"a list for the base":           {`{"202604.01": []}`, "not an object"},
		"a text for the architecture":   {in(`"https://example.com"`), "not an object"},
		"the base given twice":          {`{"202604.01": {}, "202604.01": {}}`, "given twice"},
		"the architecture given twice":  {`{"202604.01": {"amd64": {}, "amd64": {}}}`, "given twice"},
		"a field given twice":           {with("{", `{"size": 7, `), "given twice"},
		"names match exactly":           {with(`"url"`, `"address"`), "url is missing"},
		"no digest":                     {with(`"sha256"`, `"sha512"`), "sha256 is missing"},
		"an address that is none":       {with("https://example.com/node", "::"), "url"},
		"an address without a host":     {with("https://example.com/node", "https:///node"), "url"},
		"a file on the node":            {with("https://example.com/node", "file:///etc/shadow"), "not an address of HTTP"},
		"a number for the address":      {with(`"https://example.com/node"`, "1"), "url"},
		"a short digest":                {with(digest, "abab"), "64 hexadecimal digits"},
		"a digest of letters":           {with("abab", "zzzz"), "64 hexadecimal digits"},
		"no bytes":                      {with("7", "0"), "size"},
		"less than none":                {with("7", "-1"), "size"},
		"half a byte":                   {with("7", "7.5"), "size"},
		"more than a node may download": {with("7", "268435457"), "size"},
		"more than a number holds":      {with("7", "1e99"), "size"},
		"an unknown format":             {with("deb", "tar"), "format"},
	} {
		t.Run(name, func(t *testing.T) {
			pointer, err := hotfix.ParsePointer([]byte(`{"artifacts": ` + row.artifacts + `}`))
			check(t, err)
			artifact, found, err := pointer.Artifact(base, "amd64")
			got := map[bool]string{true: "found", false: "none"}[found]
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, row.says) || (err == nil && found && artifact.Size != 7) {
				t.Errorf("%s, want %s", got, row.says)
			}
		})
	}
	pointer, err := hotfix.ParsePointer([]byte(`{"artifacts": {}, "artifacts": {}}`))
	check(t, err)
	if _, _, err := pointer.Artifact(base, "amd64"); err == nil {
		t.Error("artifacts that are given twice were used")
	}
}

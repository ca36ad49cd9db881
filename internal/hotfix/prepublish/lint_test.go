package prepublish_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/hotfix/prepublish"
)

func TestLint(t *testing.T) {
	for name, row := range map[string]struct {
		file, before string
		want         []string
	}{
		"nothing is wrong": {
			file:   `{"version":"202604.01.3","scripts_version":"202604.01.3","hotfixes":{"202604.01":"202604.01.4","202603.02":"","202603.01":null},"more":1}`,
			before: `{"hotfixes":{"202604.01":"202604.01.3","202603.02":"202603.02.9"}}`,
		},
		"no JSON": {file: "{\n  \"version\": x\n}",
			want: []string{`p:2:14: invalid character 'x' looking for beginning of value`}},
		"cut off":             {file: "{\n  \"version\":", want: []string{`p:2:13: it ends in the middle`}},
		"something behind it": {file: "{}\n{}", want: []string{`p:2:1: something follows the JSON object`}},
		"no object":           {file: `[]`, want: []string{`p:1:1: it is not a JSON object`}},
		"a field that is there twice": {file: "{\"version\":\"\",\n \"version\":\"\"}",
			want: []string{`p:2:2: version: it is given twice; nobody can tell which is meant`}},
		"a base that is there twice": {
			file: "{\"hotfixes\":{\n\"202604.01\":\"202604.01.3\",\n\"202604.01\":\"202604.01.4\"}}",
			want: []string{`p:3:13: hotfixes["202604.01"]: the base is given twice; nobody can tell which is meant`},
		},
		"a malformed version": {
			file: `{"hotfixes":{"202604.01":"v1"}}`,
			want: []string{`p:1:26: hotfixes["202604.01"]: "v1" is not a version of the form YYYYMM.DD.PATCH`},
		},
		"a key that is no base": {
			file: `{"hotfixes":{"202604.1":"202604.01.3"}}`,
			want: []string{`p:1:14: hotfixes["202604.1"]: the key is not a base of the form YYYYMM.DD: no node has it; ` +
				`nodes whose base differs from it in one character take nothing by it or beside it`},
		},
		"names that are nearly known ones": {
			file: "{\"Hotfixes\":{},\n\"vversion\":\"\",\n\"scripts-version\":\"\",\n\"artifact\":{},\n\"comment\":1}",
			want: []string{
				`p:1:2: "Hotfixes": it is not "hotfixes": names are literal, and no node takes a program while it stands there`,
				`p:2:1: "vversion": it is not "version": names are literal, and no node takes a program by "version" while it stands there`,
				`p:3:1: "scripts-version": it is not "scripts_version": names are literal, and no node takes scripts while it stands there`,
				`p:4:1: "artifact": it is not "artifacts": names are literal, and no node fetches anything while it stands there`,
			},
		},
		"names of artifacts that are nearly known ones": {
			file: "{\"artifacts\":{\"202604.01\":{\n\"AMD64\":{},\n\"arm64\":{\n\"URL\":\"\"}},\n\"2026050x\":{}}}",
			want: []string{
				`p:2:1: artifacts["202604.01"]["AMD64"]: it is not "amd64": names are literal, and what it belongs to is not fetched`,
				`p:2:9: artifacts["202604.01"]["AMD64"]: url is missing`,
				`p:3:9: artifacts["202604.01"]["arm64"]: "URL" may be meant to be "url": names are literal`,
				`p:4:1: artifacts["202604.01"]["arm64"]["URL"]: it is not "url": names are literal, and what it belongs to is not fetched`,
				`p:5:1: artifacts["2026050x"]: the key is not a base of the form YYYYMM.DD: no node has it; ` +
					`nodes whose base differs from it in one character take nothing by it or beside it`,
			},
		},
		"an entry of another base": {
			file: "{\"hotfixes\":{\n  \"202604.01\": \"202604.02.3\"}}",
			want: []string{`p:2:16: hotfixes["202604.01"]: 202604.02.3 is of base 202604.02: no node of base 202604.01 takes it`},
		},
		"columns are counted in characters": {
			file: `{"é":1,"version":7}`,
			want: []string{`p:1:18: version: it has to be a text`},
		},
		"versions that go backwards": {
			file: "{\"version\":\"202604.01.3\",\n\"scripts_version\":\"202604.01.3\",\n" +
				"\"hotfixes\":{\"202604.01\":\"202604.01.9\"}}",
			before: `{"version":"202604.01.4","scripts_version":"202604.01.10","hotfixes":{"202604.01":"202604.01.10"}}`,
			want: []string{
				`p:1:12: version: it goes back from 202604.01.4 to 202604.01.3; publish a higher patch, or "" to withdraw`,
				`p:2:19: scripts_version: it goes back from 202604.01.10 to 202604.01.3; publish a higher patch, or "" to withdraw`,
				`p:3:25: hotfixes["202604.01"]: it goes back from 202604.01.10 to 202604.01.9; publish a higher patch, or "" to withdraw`,
			},
		},
		"another base is not backwards": {file: `{"version":"202603.01.1"}`, before: `{"version":"202604.01.4"}`},
		"an artifact that can't be used": {
			file: "{\"artifacts\":{\n \"202604.01\":{\"amd64\":{\"url\":\"ftp://x\",\"sha256\":\"" + strings.Repeat("0", 64) +
				"\",\"size\":1,\"format\":\"deb\"}},\n \"x\":7}}",
			want: []string{
				`p:2:23: artifacts["202604.01"]["amd64"]: url: "ftp://x" is not an address of HTTP or HTTPS`,
				`p:3:2: artifacts["x"]: the key is not a base of the form YYYYMM.DD: no node has it`,
				`p:3:6: artifacts: what should hold "" is not an object`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, finding := range prepublish.Lint("p", []byte(row.file), []byte(row.before)) {
				got = append(got, finding.String())
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBefore(t *testing.T) {
	folder := t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.com",
			"-c", "commit.gpgsign=false"}, arguments...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
	}
	put := func(name, content string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	git("init", "-q")
	path := put("sub/pointer.json", "old")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	put("sub/pointer.json", "new")
	later := put("sub/later.json", "new")

	if got, err := prepublish.Before(t.Context(), "HEAD", path); string(got) != "old" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := prepublish.Before(t.Context(), "HEAD", later); got != nil || err != nil {
		t.Errorf("a file that was not there: %q, %v", got, err)
	}
	for _, revision := range []string{"nothing", "--output=x", ""} {
		if got, err := prepublish.Before(t.Context(), revision, path); err == nil {
			t.Errorf("revision %q gives %q", revision, got)
		}
	}
}

//go:build linux

package payload_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"salve/internal/hotfix/payload"
)

var allowed = []string{"/opt/azure", "/etc/systemd/system", "/usr/local/bin"}

func TestOneFile(t *testing.T) {
	packed := base64.StdEncoding.EncodeToString(gzipped("echo hello\n"))
	for name, row := range map[string]struct {
		entry   string
		mode    fs.FileMode
		content string
	}{
		"plain": {`{path: /opt/azure/a, permissions: '0755', owner: root, content: "echo hello\n"}`,
			0o755, "echo hello\n"},
		"without permissions, 0644":    {`{path: /opt/azure/a, content: x}`, 0o644, "x"},
		"without a leading zero":       {`{path: /opt/azure/a, permissions: "600", content: x}`, 0o600, "x"},
		"permissions of nobody":        {`{path: /opt/azure/a, permissions: "0000", content: x}`, 0, "x"},
		"root and its group":           {`{path: /opt/azure/a, owner: "root:root", content: x}`, 0o644, "x"},
		"empty":                        {`{path: /opt/azure/a, content: ""}`, 0o644, ""},
		"deep below an allowed folder": {`{path: /opt/azure/b/c/d, content: x}`, 0o644, "x"},
		"text/plain":                   {`{path: /opt/azure/a, encoding: text/plain, content: x}`, 0o644, "x"},
		"none":                         {`{path: /opt/azure/a, encoding: none, content: x}`, 0o644, "x"},
		"base64": {`{path: /opt/azure/a, encoding: base64, content: ZWNobyBoZWxsbwo=}`, 0o644,
			"echo hello\n"},
		"b64": {`{path: /opt/azure/a, encoding: b64, content: ZWNobyBoZWxsbwo=}`, 0o644,
			"echo hello\n"},
		"base64 on several lines": {"{path: /opt/azure/a, encoding: b64, content: \"ZWNo\\n byBo\\nZWxsbwo=\\n\"}",
			0o644, "echo hello\n"},
		"gzip": {`{path: /opt/azure/a, encoding: gzip, content: !!binary ` + packed + `}`, 0o644,
			"echo hello\n"},
		"gz": {`{path: /opt/azure/a, encoding: gz, content: !!binary ` + packed + `}`, 0o644,
			"echo hello\n"},
		"gz+b64": {`{path: /opt/azure/a, encoding: gz+b64, content: ` + packed + `}`, 0o644,
			"echo hello\n"},
		"gz+base64": {`{path: /opt/azure/a, encoding: gz+base64, content: ` + packed + `}`, 0o644,
			"echo hello\n"},
		"gzip+b64": {`{path: /opt/azure/a, encoding: gzip+b64, content: ` + packed + `}`, 0o644,
			"echo hello\n"},
		"gzip+base64 in capitals, spaced": {`{path: /opt/azure/a, encoding: " GZIP+Base64 ", content: ` + packed + `}`, 0o644,
			"echo hello\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := payload.Parse(t.Context(), []byte("#cloud-config\nwrite_files:\n- "+row.entry+"\n"), allowed)
			check(t, err)
			if file := got.Files[0]; file.Mode != row.mode || string(file.Content) != row.content {
				t.Errorf("mode %s, content %q", file.Mode, file.Content)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	bomb := base64.StdEncoding.EncodeToString(gzipped(strings.Repeat("\x00", payload.MaxFile+1)))
	cut := gzipped("echo hello, and more of it\n")
	for name, row := range map[string]struct{ document, says string }{
		"a relative path":                 {files(`path: opt/azure/a`), "absolute"},
		"no path":                         {files(`content: x`), "absolute"},
		"a path that goes up":             {files(`path: /opt/azure/../../etc/shadow`), "clean"},
		"a path that goes up at its end":  {files(`path: /opt/azure/..`), "clean"},
		"a doubled slash":                 {files(`path: /opt/azure//a`), "clean"},
		"a slash at the end":              {files(`path: /opt/azure/a/`), "clean"},
		"outside of the allowed folders":  {files(`path: /etc/shadow`), "not below one of the allowed folders"},
		"an allowed folder itself":        {files(`path: /opt/azure`), "not below"},
		"beside an allowed folder":        {files(`path: /opt/azure-2/a`), "not below"},
		"a control character":             {files(`path: "/opt/azure/a\nb"`), "control character"},
		"a zero byte":                     {files(`path: "/opt/azure/a\0"`), "control character"},
		"a long name":                     {files(`path: /opt/azure/` + strings.Repeat("a", 201)), "too long"},
		"another owner":                   {files(`path: /opt/azure/a, owner: daemon`), "has to be root"},
		"another group":                   {files(`path: /opt/azure/a, owner: "root:daemon"`), "has to be root"},
		"permissions as a number":         {files(`path: /opt/azure/a, permissions: 0644`), "into quotes"},
		"permissions as a decimal number": {files(`path: /opt/azure/a, permissions: 644`), "into quotes"},
		"permissions in words":            {files(`path: /opt/azure/a, permissions: rwx`), "octal"},
		"permissions that aren't octal":   {files(`path: /opt/azure/a, permissions: "0888"`), "octal"},
		"permissions with special bits":   {files(`path: /opt/azure/a, permissions: "4755"`), "octal"},
		"permissions with a sign":         {files(`path: /opt/azure/a, permissions: "-755"`), "octal"},
		"empty permissions":               {files(`path: /opt/azure/a, permissions: ""`), "octal"},
		"an unknown encoding":             {files(`path: /opt/azure/a, encoding: zstd`), "has to be none, gzip"},
		"broken base64":                   {files(`path: /opt/azure/a, encoding: b64, content: "!!!"`), "not base64"},
		"what isn't gzip":                 {files(`path: /opt/azure/a, encoding: gzip, content: hello`), "not gzip"},
		"gzip that is cut off": {files(`path: /opt/azure/a, encoding: gz+b64, content: ` +
			base64.StdEncoding.EncodeToString(cut[:len(cut)-9])), "cut off"},
		"gzip with something behind it": {files(`path: /opt/azure/a, encoding: gz+b64, content: ` +
			base64.StdEncoding.EncodeToString(append(cut, "tail"...))), "gzip"},
		"little that grows into much":      {files(`path: /opt/azure/a, encoding: gz+b64, content: ` + bomb), "larger than"},
		"appending":                        {files(`path: /opt/azure/a, append: true`), "append"},
		"a source elsewhere":               {files(`path: /opt/azure/a, source: {uri: "https://example.com"}`), "source"},
		"another module beside":            {files(`path: /opt/azure/a`) + "runcmd: [reboot]\n", "runcmd"},
		"a file given twice":               {files(`path: /opt/azure/a`, `path: /opt/azure/a`), "twice"},
		"a file in the place of a folder":  {files(`path: /opt/azure/a`, `path: /opt/azure/a/b`), "the folder of"},
		"a folder in the place of a file":  {files(`path: /opt/azure/a/b/c`, `path: /opt/azure/a`), "the folder of"},
		"a name that is needed for a file": {files(`path: /opt/azure/a`, `path: /opt/azure/.a.part`), "written first"},
		"no files":                         {"write_files: []\n", "names no file"},
		"nothing":                          {"", "write_files"},
		"a list":                           {"- a\n", "write_files"},
		"not YAML":                         {"write_files: [", "write_files"},
		"two documents":                    {files(`path: /opt/azure/a`) + "---\n{}\n", "follows"},
		"too many files": {"write_files:\n" + strings.Repeat("- {path: /opt/azure/a}\n",
			payload.MaxFiles+1), "more than 500"},
		"too large a document": {strings.Repeat("#\n", payload.MaxDocument/2+1), "larger than"},
		"an alias bomb":        {aliasBomb(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := payload.Parse(t.Context(), []byte(row.document), allowed)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("it says %v, want %q", err, row.says)
			}
		})
	}
}

func TestTheWholeIsBounded(t *testing.T) {
	half := base64.StdEncoding.EncodeToString(gzipped(strings.Repeat("\x00", payload.MaxFile)))
	var document strings.Builder
	document.WriteString("write_files:\n")
	for i := range payload.MaxTotal/payload.MaxFile + 1 {
		fmt.Fprintf(&document, "- {path: /opt/azure/%d, encoding: gz+b64, content: %s}\n", i, half)
	}
	_, err := payload.Parse(t.Context(), []byte(document.String()), allowed)
	if err == nil || !strings.Contains(err.Error(), "together") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(files(`path: /opt/azure/a, permissions: '0755', content: x`)))
	f.Add([]byte(files(`path: /opt/azure/../a`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := payload.Parse(t.Context(), raw, allowed)
		if err != nil {
			return
		}
		for _, file := range got.Files {
			inside := false
			for _, folder := range allowed {
				inside = inside || strings.HasPrefix(file.Path, folder+"/")
			}
			if !inside || strings.Contains(file.Path, "/../") || file.Mode > 0o777 || len(file.Content) > payload.MaxFile {
				t.Errorf("accepted %q, mode %s, %d bytes", file.Path, file.Mode, len(file.Content))
			}
		}
	})
}

func files(entries ...string) string {
	return "write_files:\n- {" + strings.Join(entries, "}\n- {") + "}\n"
}

func gzipped(text string) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

func aliasBomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10),
			", "))
	}
	return text + "write_files: [{path: /opt/azure/a, content: *a8}]\n"
}

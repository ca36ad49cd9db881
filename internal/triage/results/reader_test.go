package results_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"salve/internal/triage/results"
)

const (
	junitDoc = `<testsuite><testcase name="j"/></testsuite>`
	goEvents = `{"Action":"pass","Package":"p","Test":"g"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestKindsAreToldByContent(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"JUnit":                             {"\n " + junitDoc, `pass "j" #1`},
		"go test -json":                     {goEvents, `pass "g" #1 suite="p"`},
		"go test -json after other lines":   {"go: downloading x\n" + goEvents, `pass "g" #1 suite="p"`},
		"gzip":                              {gzipped(t, junitDoc), `pass "j" #1`},
		"Zstandard":                         {zstandard(t, goEvents), `pass "g" #1 suite="p"`},
		"one in the other":                  {gzipped(t, zstandard(t, junitDoc)), `pass "j" #1`},
		"compressed too often":              {gzipped(t, gzipped(t, gzipped(t, gzipped(t, "x")))), `problem: standard input: can't be read: compressed more than twice`},
		"a plain log":                       {"one\r\ntwo\n", `fail "standard input" #1 message="two" output="one\ntwo\n"`},
		"a log that begins with a bracket":  {"<nil> pointer\n", `fail "standard input" #1 message="<nil> pointer" output="<nil> pointer\n"`},
		"a log of JSON lines":               {`{"Action":"login","Package":"p"}`, `fail "standard input" #1 message="{\"Action\":\"login\",\"Package\":\"p\"}" output="{\"Action\":\"login\",\"Package\":\"p\"}"`},
		"nothing":                           {" \n", `problem: standard input: empty`},
		"binary":                            {"\x7fELF\x00\x00", `problem: standard input: binary`},
		"a log with NULs":                   {"\x00\x00boot\x00ing\n", `fail "standard input" #1 message="boot�ing" output="��boot�ing\n" notes="3 control characters or bytes that are no UTF-8 replaced by U+FFFD"`},
		"go test -json with NULs":           {strings.Replace("\x00"+goEvents, "\n", "\x00\n\x00", 1), `pass "g" #1 suite="p" notes="bytes that are no UTF-8, or NULs, replaced by U+FFFD"`},
		"a tar file":                        {"a.txt" + strings.Repeat("\x00", 252) + "ustar\x0000", `problem: standard input: an archive: unpack it first`},
		"a tar file in gzip":                {gzipped(t, "a.txt"+strings.Repeat("\x00", 252)+"ustar\x0000"), `problem: standard input: an archive: unpack it first`},
		"a zip file":                        {"PK\x03\x04\x14\x00", `problem: standard input: an archive: unpack it first`},
		"a log that begins as an archive":   {"BZh is here", `fail "standard input" #1 message="BZh is here" output="BZh is here"`},
		"a picture":                         {"\x89PNG\r\n\x1a\n and text", `problem: standard input: binary`},
		"nothing but NULs":                  {"\x00\x00\x00", `problem: standard input: binary`},
		"random bytes":                      {randomBytes(), `problem: standard input: binary`},
		"a gzip header and nothing behind":  {"\x1f\x8b\x08", `problem: standard input: can't be read: unexpected EOF`},
		"another encoding's log is cleaned": {"caf\xe9\x1b[0m", `fail "standard input" #1 message="caf�\ufffd[0m" output="caf�\ufffd[0m" notes="2 control characters or bytes that are no UTF-8 replaced by U+FFFD"`},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, read(t, results.Reader{}, test.in), strings.ReplaceAll(test.want, `\ufffd`, "�"))
		})
	}
}

// randomBytes are the same ones always, with no signature of a format.
func randomBytes() string {
	out := make([]byte, 9000)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(out)
	return "data" + string(out)
}

func TestATruncatedArchiveKeepsTheCasesBeforeTheBreak(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("<testsuite>\n")
	for i := range 2000 {
		fmt.Fprintf(&doc, "<testcase name='%x'/>\n", i*i*7919)
	}
	whole := gzipped(t, doc.String()+"</testsuite>")
	got := read(t, results.Reader{}, whole[:len(whole)/2])
	lines := strings.Split(strings.TrimSpace(got), "\n")
	last := lines[len(lines)-1]
	if len(lines) < 500 || !strings.HasPrefix(last, "problem: standard input:") ||
		!strings.HasSuffix(last, "breaks off: unexpected EOF") {
		t.Errorf("%d lines, the last is %q", len(lines), last)
	}
}

func TestFoldersAreReadInOrderAndSymbolicLinksAreNotFollowed(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"b/2.xml": junitDoc, "a.json": goEvents, "b/1.log": "x", "c.bin": "\x00"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(folder, "0")); err != nil {
		t.Fatal(err)
	}
	walk := func(limit int, paths ...string) (names []string) {
		for c, err := range (results.Reader{Limits: results.Limits{Files: limit}}).Cases(t.Context(), paths...) {
			if err != nil {
				names = append(names, strings.ReplaceAll(err.Error(), folder, "."))
			} else {
				names = append(names, c.Name)
			}
		}
		return names
	}
	expect(t, strings.Join(walk(9, folder, filepath.Join(folder, "none"), filepath.Join(folder, "a.json")), "\n")+"\n",
		"g", "1.log", "j", "./c.bin: binary", "./none: can't be read: no such file or directory", "g")
	expect(t, strings.Join(walk(2, folder, filepath.Join(folder, "a.json")), "\n")+"\n",
		"g", "1.log", "./b/2.xml: more than 2 files: the rest is not read", "g")
}

func TestNoStandardInputIsAProblem(t *testing.T) {
	for _, err := range (results.Reader{}).Cases(t.Context(), "-") {
		var p *results.Problem
		if !errors.As(err, &p) || p.Reason != "no standard input" {
			t.Error(err)
		}
	}
}

func TestBreakingOffStopsReading(t *testing.T) {
	in := &endless{piece: `<testcase name="a"/>`, first: "<testsuite>"}
	n := 0
	for _, err := range (results.Reader{Stdin: in}).Cases(t.Context(), "-", "-") {
		if n++; n == 3 || err != nil {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d cases", n)
	}
}

func TestTheEndOfTheContextEndsItAll(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in := &endless{piece: `<testcase name="a"/>`, first: "<testsuite>"}
	var problems []string
	for _, err := range (results.Reader{Stdin: in}).Cases(ctx, "-", "-") {
		cancel()
		if err != nil {
			problems = append(problems, err.Error())
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
	if len(problems) != 1 || !strings.HasSuffix(problems[0], "breaks off: context canceled") {
		t.Error(problems)
	}
}

func TestAnUnknownEncodingIsNoted(t *testing.T) {
	var notes []string
	reader := results.Reader{Note: func(n results.Note) { notes = append(notes, n.Place.String()+": "+n.Text) }}
	read(t, reader, "<?xml version='1.0' encoding='Shift_JIS'?><testsuite/>")
	want := `standard input:1: encoding "Shift_JIS" is not known: bytes that are no ASCII or UTF-8 become U+FFFD`
	if len(notes) != 1 || notes[0] != want {
		t.Errorf("%q", notes)
	}
}

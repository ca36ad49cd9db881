package results_test

import (
	"strings"
	"testing"

	"salve/internal/triage/results"
)

func events(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestGoTest(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"outcomes, durations and attributes", events(
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"attr","Package":"p","Test":"A","Key":"cluster","Value":"B"}`,
			`{"Action":"pass","Package":"p","Test":"A","Elapsed":1.5}`, `{"Action":"skip","Package":"p","Test":"B"}`, `{"Action":"pass","Package":"p"}`),
			[]string{`pass "A" #1 suite="p" took=1.5s cluster:"B"`, `skip "B" #1 suite="p"`}},
		{"packages come mixed, lines in pieces", events(
			`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: fir"}`,
			`{"Action":"output","Package":"q","Test":"A","Output":"other\n"}`,
			`{"Action":"output","Package":"p","Test":"A","Output":"st\n"}`,
			`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"q","Test":"A"}`,
			`{"Action":"fail","Package":"p"}`, `{"Action":"pass","Package":"q"}`),
			[]string{`fail "A" #1 suite="p" message="first" failure="    a_test.go:7: first" output="    a_test.go:7: first\n" at=a_test.go:7`,
				`pass "A" #1 suite="q" output="other\n"`}},
		{"a test of subtests says so", events(
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"run","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A/x"}`,
			`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`),
			[]string{`fail "A/x" #1 suite="p"`, `fail "A" #1 suite="p" subtests`}},
		{"the last place with the lines that continue it is the message", events(
			`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:1: begins\n"}`,
			`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:9: \n        Error: Not equal\n--- FAIL: A\n"}`,
			`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`),
			[]string{`fail "A" #1 suite="p" message="Error: Not equal" failure="    a_test.go:1: begins\n    a_test.go:9: \n        Error: Not equal" output="    a_test.go:1: begins\n    a_test.go:9: \n        Error: Not equal\n--- FAIL: A\n" at=a_test.go:9`}},
		{"a panic has the rest for its text", events(
			`{"Action":"output","Package":"p","Test":"A","Output":"x\npanic: boom\n\ngoroutine 1\n"}`, `{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`),
			[]string{`fail "A" #1 suite="p" message="panic: boom" failure="panic: boom\n\ngoroutine 1\n" output="x\npanic: boom\n\ngoroutine 1\n"`}},
		{"a failing package without a failing test is an error of its own", events(
			`{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"output","Package":"p","Output":"exit status 2\n"}`, `{"Action":"fail","Package":"p","Elapsed":2}`),
			[]string{`pass "A" #1 suite="p"`, `error "" #1 suite="p" took=2s output="exit status 2\n"`}},
		{"a build that fails is told with each package that it makes fail", events(
			`{"ImportPath":"d","Action":"build-output","Output":"d.go:1:2: undefined: x\n"}`, `{"ImportPath":"d","Action":"build-fail"}`,
			`{"Action":"fail","Package":"p","FailedBuild":"d"}`, `{"Action":"fail","Package":"q","FailedBuild":"d"}`),
			[]string{`error "" #1 suite="p" message="undefined: x" failure="d.go:1:2: undefined: x" output="d.go:1:2: undefined: x\n" at=d.go:1`,
				`error "" #1 suite="q" message="undefined: x" failure="d.go:1:2: undefined: x" output="d.go:1:2: undefined: x\n" at=d.go:1`}},
		{"a build that no package ends with is given all the same", events(
			`{"ImportPath":"d","Action":"build-output","Output":"d.go:1:2: bad\n"}`, `{"ImportPath":"d","Action":"build-fail"}`),
			[]string{`error "" #1 suite="d" message="bad" failure="d.go:1:2: bad" output="d.go:1:2: bad\n" at=d.go:1`}},
		{"a rerun is another attempt", events(
			`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`, `{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p"}`),
			[]string{`fail "A" #1 suite="p"`, `pass "A" #2 suite="p"`}},
		{"a test that a failing package leaves open has no result, and the package is told", events(
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`),
			[]string{`error "A" #1 suite="p" message="no result: the package ended first" notes="no result: the package ended first"`, `error "" #1 suite="p"`}},
		{"a test that a passing package leaves open is not counted as a pass", events(
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p"}`),
			[]string{`skip "A" #1 suite="p" notes="no result, though the package passed: not counted as a pass"`}},
		{"events that end first leave errors", events(`{"Action":"run","Package":"p","Test":"A"}`),
			[]string{`error "A" #1 suite="p" message="no result: the events end first" notes="no result: the events end first"`,
				`error "" #1 suite="p" message="no result: the events end first"`}},
		{"lines between the events explain a package that says nothing itself", events(
			"# p", "p.go:1:1: undefined: y", `{"Action":"fail","Package":"p"}`),
			[]string{`error "" #1 suite="p" message="undefined: y" failure="p.go:1:1: undefined: y" output="# p\np.go:1:1: undefined: y\n" at=p.go:1 notes="with lines that stood between the events"`}},
		{"JSON that a test prints is no event", events(`{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"deleted","Package":"p","Test":"B"}`, `{"level":"info"}`),
			[]string{`pass "A" #1 suite="p"`, `error "" #1 suite="p" message="no result: the events end first"`}},
		{"control characters and wrong bytes are replaced and noted", events(
			`{"Action":"output","Package":"p","Test":"A","Output":"\u001b[31m`+"\xff"+`\n"}`, `{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p"}`),
			[]string{`pass "A" #1 suite="p" output="�[31m�\n" notes="1 control character or byte that is no UTF-8 replaced by U+FFFD; bytes that are no UTF-8, or NULs, replaced by U+FFFD"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, read(t, results.Reader{}, test.in), test.want...)
		})
	}
}

func TestMoreTestsAtOnceThanTheLimitAreRefusedWithTheirLine(t *testing.T) {
	in := events(`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"run","Package":"p","Test":"B"}`)
	got := read(t, results.Reader{Limits: results.Limits{Open: 1}}, in)
	if !strings.HasSuffix(got, "problem: standard input:2: more than 1 tests run at once\n") {
		t.Error(got)
	}
}

func TestLinesTooLongAreNoEvents(t *testing.T) {
	var notes []string
	note := func(n results.Note) { notes = append(notes, n.Text) }
	reader := results.Reader{Limits: results.Limits{Line: 300 << 10}, Note: note}
	long := `{"Action":"fail","Package":"p","Test":"A","Output":"` + strings.Repeat("x", 600<<10) + `"}`
	got := read(t, reader, events(`{"Action":"pass","Package":"p","Test":"A"}`, long, `{"Action":"pass","Package":"p"}`))
	expect(t, got, `pass "A" #1 suite="p"`)
	if len(notes) != 2 || notes[1] != "1 line is no event of go test -json" {
		t.Errorf("notes are %q", notes)
	}
}

func FuzzGoTest(f *testing.F) {
	f.Add(events(`{"Action":"run","Package":"p","Test":"A/b"}`, `{"Action":"output","Package":"p","Test":"A/b","Output":"panic: x\n a.go:1: b"}`, `{"Action":"fail","Package":"p","Test":"A/b"}`, "stray", `{"Action":"fail","Package":"p","FailedBuild":"d"}`))
	f.Add(events(`{"ImportPath":"d","Action":"build-output","Output":"d.go:1:2: bad\n"}`, `{"ImportPath":"d","Action":"build-fail"}`))
	f.Add(events(`{"Action":"run","Test":"/"}`, `{"Action":"attr","Test":"/","Key":"","Value":"\u0000"}`, `{"Action":"bench","Test":"/","Elapsed":-1e300}`))
	f.Fuzz(func(t *testing.T, text string) {
		limits := results.Limits{Text: 64, OpenBytes: 256, Open: 8, Line: 512, Message: 32, Attributes: 2}
		for c, err := range (results.Reader{Stdin: strings.NewReader(text), Limits: limits}).Cases(t.Context(), "-") {
			if err == nil {
				checkCase(t, c)
			}
		}
	})
}

package results_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/triage/results"
)

// recorder is an observer that keeps all it is told.
type recorder struct {
	t    *testing.T
	open int
}

type recording struct {
	*recorder
	text  strings.Builder
	ended bool
}

func (r *recorder) Observe(file string) results.Observation {
	if file != "standard input" {
		r.t.Errorf("a text of %q", file)
	}
	r.open++
	return &recording{recorder: r}
}

func (r *recording) Text(line int, text []byte) {
	if r.ended {
		r.t.Errorf("line %d comes after the end", line)
	}
	fmt.Fprintf(&r.text, "%d:%s|", line, text)
}

func (r *recording) Break() { r.text.WriteString("/") }

func (r *recording) End() {
	if r.ended {
		r.t.Error("two ends")
	}
	r.ended = true
	r.open--
}

func TestAnObserverSeesTheTextsOfEachCase(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"a plain log, line by line", "one\ntwo\r\n\x1bthree", []string{`"standard input" "1:one\n|2:two\r\n|3:\x1bthree|"`}},
		{"tests of go test that run at the same time", events(
			`{"Action":"output","Package":"p","Test":"A","Output":"fir"}`, `{"Action":"output","Package":"p","Test":"B","Output":"b\n"}`,
			`{"Action":"output","Package":"p","Test":"A","Output":"st\n"}`,
			`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p","Test":"B"}`,
			`{"Action":"run","Package":"p","Test":"C"}`, `{"Action":"pass","Package":"p","Test":"C"}`, `{"Action":"fail","Package":"p"}`),
			[]string{`"A" "1:fir|3:st\n|"`, `"B" "2:b\n|"`, `"C" nothing`}},
		{"a package of go test with its build", events(
			`{"ImportPath":"d","Action":"build-output","Output":"d.go:1:2: undefined: x\n"}`, `{"ImportPath":"d","Action":"build-fail"}`,
			`{"Action":"output","Package":"p","Output":"FAIL p\n"}`, `{"Action":"fail","Package":"p","FailedBuild":"d"}`),
			[]string{`"" "3:FAIL p\n|/1:d.go:1:2: undefined: x\n|"`}},
		{"a package of go test that passes, and one that has no end", events(
			`{"Action":"output","Package":"p","Output":"ok\n"}`, `{"Action":"pass","Package":"p"}`,
			`{"Action":"output","Package":"q","Test":"A","Output":"a\n"}`, `{"Action":"output","Package":"q","Output":"q\n"}`),
			[]string{`"A" "3:a\n|"`, `"" "4:q\n|"`}},
		{"a package of go test that a test made fail, and that has no end", events(
			`{"Action":"output","Package":"p","Output":"starting\n"}`, `{"Action":"fail","Package":"p","Test":"A"}`),
			[]string{`"A" nothing`}},
		{"a failure of JUnit with both outputs", `<testsuite><testcase name="a">
<properties><property name="k">v</property></properties>
<failure message="m" type="t">text
&lt;</failure>
<system-out>out</system-out><system-err><![CDATA[err]]></system-err></testcase></testsuite>`,
			[]string{`"a" "3:t|/3:m|/3:text\n<|/5:out|/5:err|"`}},
		{"attempts of JUnit", `<testsuite><testcase name='a'><failure>f</failure><rerunFailure message='r'>x<system-out>y</system-out>z</rerunFailure></testcase></testsuite>`,
			[]string{`"a" "1:r|/1:x|/1:y|/1:z|"`, `"a" "/1:f|"`}},
		{"a case that passes and says something", `<testsuite><testcase name='a'><system-out>out</system-out></testcase><testcase name='b'/></testsuite>`,
			[]string{`"a" "/1:out|"`, `"b" nothing`}},
		{"a case that the file breaks in", "<testsuite><testcase name='a'><failure>f", []string{`"a" "1:f|"`}},
		{"a case that the file breaks in, and isn't given", "<testsuite><testcase name='a'><system-out>f", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			observer := &recorder{t: t}
			var got strings.Builder
			reader := results.Reader{Stdin: strings.NewReader(test.in), Observer: observer}
			for c, err := range reader.Cases(t.Context(), "-") {
				switch seen, ok := c.Observation.(*recording); {
				case err != nil:
				case !ok:
					fmt.Fprintf(&got, "%q nothing\n", c.Name)
				default:
					fmt.Fprintf(&got, "%q %q\n", c.Name, strings.TrimPrefix(seen.text.String(), "/"))
					if !seen.ended {
						t.Errorf("%q is given before its end", c.Name)
					}
				}
			}
			want := ""
			for _, line := range test.want {
				want += strings.Replace(line, `"/`, `"`, 1) + "\n"
			}
			if got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
			if observer.open != 0 {
				t.Errorf("%d observations have no end", observer.open)
			}
		})
	}
}

// TestAnObserverSeesWhatIsLeftOut: of 200 lines the case keeps two.
func TestAnObserverSeesWhatIsLeftOut(t *testing.T) {
	lines, event := strings.Repeat("0123456789\n", 200), strings.Repeat(`0123456789\n`, 200)
	for name, in := range map[string]string{
		"a log":   lines,
		"go test": events(`{"Action":"output","Package":"p","Test":"A","Output":"`+event+`"}`, `{"Action":"fail","Package":"p","Test":"A"}`),
		"JUnit":   "<testsuite><testcase name='a'><failure>" + lines + "</failure></testcase></testsuite>",
	} {
		reader := results.Reader{
			Stdin: strings.NewReader(in), Observer: &recorder{t: t}, Limits: results.Limits{Text: 22},
		}
		cases := 0
		for c, err := range reader.Cases(t.Context(), "-") {
			if err != nil {
				t.Fatal(err)
			}
			if c.Name == "" {
				continue // the package of go test has no end
			}
			cases++
			seen, ok := c.Observation.(*recording)
			if !ok || strings.Count(seen.text.String(), "0123456789") != 200 {
				t.Errorf("%s: not all lines are seen", name)
			}
			if len(c.Output.Head)+len(c.Output.Tail) > 22 || len(c.Failure.Head) > 22 {
				t.Errorf("%s: the case keeps more than its limit", name)
			}
		}
		if cases != 1 {
			t.Errorf("%s: %d cases", name, cases)
		}
	}
}

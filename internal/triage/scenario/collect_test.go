package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
)

// read makes a run of files of go test -json, JUnit and logs, by their names.
func read(t *testing.T, files map[string]string) *scenario.Run {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		write(t, folder, name, text)
	}
	var c scenario.Collector
	for one, err := range (results.Reader{}).Cases(t.Context(), folder) {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(one)
	}
	return c.Finish()
}

func rows(run *scenario.Run) []string {
	out := []string{}
	for _, s := range run.Scenarios {
		out = append(out, s.Name+" "+string(s.Outcome))
	}
	slices.Sort(out)
	return out
}

// events are of one package: "pass TestA", "fail TestB: message".
func events(lines ...string) string {
	var out strings.Builder
	failed := "pass"
	for _, line := range lines {
		action, rest, _ := strings.Cut(line, " ")
		name, message, said := strings.Cut(rest, ": ")
		out.WriteString(`{"Action":"run","Package":"e2e","Test":"` + name + `"}` + "\n")
		if said {
			out.WriteString(`{"Action":"output","Package":"e2e","Test":"` + name + `","Output":"    a_test.go:7: ` + message + `\n"}` + "\n")
		}
		if action == "fail" {
			failed = "fail"
		}
		if action != "crash" {
			out.WriteString(`{"Action":"` + action + `","Package":"e2e","Test":"` + name + `"}` + "\n")
		}
	}
	out.WriteString(`{"Action":"` + failed + `","Package":"e2e"}` + "\n")
	return out.String()
}

// timed is a file with one failure, the time that it took and what it wrote.
func timed(seconds, output string) string {
	return `<testsuite name="e2e"><testcase name="TestA" time="` + seconds + `"><failure message="no"/><system-out>` +
		output + `</system-out></testcase></testsuite>`
}

func TestRows(t *testing.T) {
	for rule, row := range map[string]struct {
		files map[string]string
		want  []string
		note  string
	}{
		"passing ones count as well": {map[string]string{"a.json": events("pass TestA", "fail TestB: no", "skip TestC")},
			[]string{"TestA pass", "TestB fail", "TestC skip"}, ""},
		"a sum of others is no scenario": {map[string]string{
			"a.json": events("pass TestA/x", "fail TestA/y: no", "fail TestA: ")},
			[]string{"TestA/x pass", "TestA/y fail"}, ""},
		"a parent that fails by itself is one": {map[string]string{
			"a.json": events("pass TestA/x", "fail TestA: cleaning up")},
			[]string{"TestA fail", "TestA/x pass"}, ""},
		"the last attempt counts": {map[string]string{"a.json": events("fail TestA: no") + events("pass TestA")},
			[]string{"TestA pass"}, ""},
		"attempts in folders of their own": {map[string]string{
			"attempt-1/a.json": events("fail TestA: no"), "attempt-2/a.json": events("pass TestA")},
			[]string{"TestA pass"}, ""},
		"shards are no attempts": {map[string]string{
			"east/a.json": events("fail TestA: no"), "west/a.json": events("pass TestA")},
			[]string{"TestA fail", "TestA pass"}, ""},
		"what another file repeats is counted once": {map[string]string{
			"a.json": events("pass TestA", "fail TestB: no"),
			"b.xml": `<testsuite name="e2e"><testcase classname="e2e" name="TestA"/>` +
				`<testcase classname="e2e" name="TestB"><failure message="no">no</failure></testcase></testsuite>`},
			[]string{"TestA pass", "TestB fail"}, "b.xml repeats"},
		"a file that only has the same names is another run": {map[string]string{
			"a.json": events("pass TestA", "fail TestB: no"),
			"b.xml": `<testsuite name="e2e"><testcase classname="e2e" name="TestA"><failure/></testcase>` +
				`<testcase classname="e2e" name="TestB"/></testsuite>`},
			[]string{"TestA fail", "TestA pass", "TestB fail", "TestB pass"}, ""},
		"logs beside results are no scenarios": {map[string]string{
			"a.json": events("pass TestA"), "TestA/serial.log": "booted\n"}, []string{"TestA pass"}, ""},
		"a copy is counted once": {map[string]string{
			"a.xml": timed("1", "a"), "b.xml": timed("1", "b"), "c.xml": timed("1", "a")},
			[]string{"TestA fail"}, "b.xml is a copy of"},
		"a copy without times is alike to the letter": {map[string]string{"a.xml": timed("0", "a"), "b.xml": timed("0", "a")},
			[]string{"TestA fail"}, "b.xml is a copy of"},
		"shards that end alike are no copies": {map[string]string{
			"a.xml": timed("1", "a"), "b.xml": timed("2", "a"), "c.xml": timed("0", "a"), "d.xml": timed("0", "b")},
			[]string{"TestA fail", "TestA fail", "TestA fail", "TestA fail"}, ""},
		"attempts that end alike are no copies": {map[string]string{
			"attempt-1/a.xml": timed("1", "a"), "attempt-2/a.xml": timed("1", "a")}, []string{"TestA fail"}, ""},
		"nothing but logs": {map[string]string{"one.log": "panic: no\n"}, []string{"one.log fail"}, "nothing but plain logs"},
	} {
		t.Run(rule, func(t *testing.T) {
			run := read(t, row.files)
			if strings.Contains(rule, "no copies") && len(run.Notes) > 0 {
				t.Errorf("notes: %v", run.Notes)
			}
			if got := rows(run); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
			if !strings.Contains(strings.Join(run.Notes, "\n"), row.note) {
				t.Errorf("notes: %v", run.Notes)
			}
			if n := run.Counts; n.Scenarios != len(row.want) || n.Passed+n.Failed+n.Skipped != n.Scenarios {
				t.Errorf("counts %+v", n)
			}
		})
	}
}

func TestAttemptsTellWhatRecoveredAndWhatInsisted(t *testing.T) {
	for rule, row := range map[string]struct {
		events              string
		recovered, insisted int
	}{
		"once":        {events("fail TestA: no"), 0, 1},
		"three times": {strings.Repeat(events("fail TestA: no"), 3), 0, 3},
		"in different ways insists on none": {
			events("fail TestA: no") + events("fail TestA: else") + events("fail TestA: no"), 0, 0,
		},
		"the most of several scenarios": {strings.Repeat(events("fail TestA: no"), 3) + events("fail TestB: no"), 0, 3},
		"one scenario that recovers":    {events("fail TestA: no", "fail TestB: no") + events("pass TestA"), 1, 1},
		"recovered and insisted": {strings.Repeat(events("fail TestA: no"), 3) + events("fail TestB: no") +
			events("pass TestB"), 1, 3},
	} {
		t.Run(rule, func(t *testing.T) {
			run := read(t, map[string]string{"a.json": row.events})
			if got := run.Groups[0]; got.Recovered != row.recovered || got.Insisted != row.insisted {
				t.Errorf("%d recovered, %d insisted", got.Recovered, got.Insisted)
			}
		})
	}
}

func TestARunThatEndedFirstIsAborted(t *testing.T) {
	run := read(t, map[string]string{"a.json": events("pass TestA", "crash TestB", "fail TestC: no")})
	if run.Aborted == nil || !strings.Contains(run.Aborted.Text, "before 1 scenario had a result (TestB)") {
		t.Errorf("%+v", run.Aborted)
	}
	if run := read(t, map[string]string{"a.json": events("fail TestA: no")}); run.Aborted != nil {
		t.Errorf("%+v", run.Aborted)
	}
}

func TestTheLargestGroupIsFirst(t *testing.T) {
	run := read(t, map[string]string{"a.json": events("fail TestA: a", "fail TestB: b", "fail TestC: b", "pass TestD")})
	if len(run.Groups) != 2 || len(run.Groups[0].Rows) != 2 || run.Scenarios[run.Groups[1].Rows[0]].Name != "TestA" {
		t.Errorf("%+v", run.Groups)
	}
	for g := range run.Groups {
		for _, at := range run.Groups[g].Rows {
			if run.Scenarios[at].Group != g {
				t.Errorf("%s is in group %d, not %d", run.Scenarios[at].Name, run.Scenarios[at].Group, g)
			}
		}
	}
}

func TestResultsThatBreakOffAreOfAnAbortedRun(t *testing.T) {
	for rule, row := range map[string]struct {
		files   map[string]string
		aborted bool
	}{
		"a file of results that ends in the middle": {map[string]string{
			"a.xml": `<testsuite name="e2e"><testcase classname="e2e" name="TestA"/><testcase classname="e2e" na`}, true},
		"a whole one beside a log that can't be read": {map[string]string{
			"a.json": events("pass TestA"), "b.log.gz": "\x1f\x8b\x08\x00broken"}, false},
	} {
		t.Run(rule, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range row.files {
				write(t, folder, name, text)
			}
			var c scenario.Collector
			problems := 0
			for one, err := range (results.Reader{}).Cases(t.Context(), folder) {
				if err != nil {
					problems++
					c.Break(err)
					continue
				}
				c.Add(one)
			}
			run := c.Finish()
			if problems != 1 || (run.Aborted != nil) != row.aborted {
				t.Errorf("%d problems, aborted %+v", problems, run.Aborted)
			}
		})
	}
}

func TestALogsGroupIsOfTheLineThatTellsItsFailure(t *testing.T) {
	run := read(t, map[string]string{"one.log": strings.Repeat("line\n", 3000) + "ERROR bad thing\n"})
	failure, example := run.Groups[0].Failure, run.Groups[0].Example
	if failure.Message != "ERROR bad thing" || example.Text != "ERROR bad thing" || example.Line != 3001 {
		t.Errorf("%+v, %+v", failure, example)
	}
}

func TestASuiteThatLostCasesIsOfAnAbortedRun(t *testing.T) {
	in := strings.NewReader(`<testsuite name="s" tests="10"><testcase name="a"/></testsuite>`)
	var c scenario.Collector
	for one, err := range (results.Reader{Stdin: in}).Cases(t.Context(), "-") {
		if err != nil {
			c.Break(err)
			continue
		}
		c.Add(one)
	}
	got := c.Finish().Aborted
	if got == nil || got.Reason != "fewer-scenarios" || got.Expected != 10 || got.Found != 1 ||
		!strings.Contains(got.Text, `standard input:1: suite "s" declares 10 cases and has 1`) {
		t.Errorf("%+v", got)
	}
}

// unseeing is an observation of nothing.
type unseeing struct{}

func (unseeing) Text(int, []byte) {}
func (unseeing) Break()           {}
func (unseeing) End()             {}

func TestLogsWithoutAScenarioAreNoted(t *testing.T) {
	log := results.Case{Log: true, Origin: results.Place{File: "b.log"}, Observation: unseeing{}}
	for want, logs := range map[string]int{"1 log belongs to": 1, "2 logs belong to": 2} {
		var c scenario.Collector
		c.Add(results.Case{Name: "a", Outcome: results.Pass})
		for range logs {
			c.Add(log)
		}
		if notes := c.Finish().Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
			t.Errorf("%q, want %q", notes, want)
		}
	}
}

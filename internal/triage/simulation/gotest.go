package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

const goPackage = "example.io/node/e2e"

// event is a line of go test -json.
type event struct {
	Time    time.Time
	Action  string
	Package string
	Test    string  `json:",omitempty"`
	Elapsed float64 `json:",omitempty"`
	Output  string  `json:",omitempty"`
	Key     string  `json:",omitempty"`
	Value   string  `json:",omitempty"`
}

// goTest is the events of a package in the order of their times, first attempts and then those that were made again.
func (g *generator) goTest(shard []*scenario, abort string) string {
	var out strings.Builder
	for try := range 4 {
		events, failed := g.attemptsOf(shard, try)
		if len(events) == 0 {
			break
		}
		slices.SortStableFunc(events, func(a, b event) int { return a.Time.Compare(b.Time) })
		end := events[len(events)-1].Time
		again := slices.ContainsFunc(shard, func(s *scenario) bool { return len(s.attempts) > try+1 && !s.missing })
		if abort != "" && abort != "fewer" && !again {
			events = append(events, g.aborts(shard, abort, end)...)
		} else {
			action := "pass"
			if failed {
				action = "fail"
			}
			events = append(events, event{Time: end, Action: action, Package: goPackage})
		}
		for _, e := range events {
			line, err := json.Marshal(e)
			if err != nil {
				panic(err) // texts and numbers
			}
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// attemptsOf are the events of one attempt of each scenario, with those of the tests that they are of.
func (g *generator) attemptsOf(shard []*scenario, try int) (events []event, failed bool) {
	type span struct {
		begin, end time.Time
		failed     bool
		lost       bool
	}
	tests := map[string]*span{}
	var names []string
	for _, s := range shard {
		if s.missing || len(s.attempts) <= try {
			continue
		}
		a := s.attempts[try]
		lost := s.lost && try == len(s.attempts)-1
		events = append(events, g.eventsOf(s, a, lost)...)
		t := tests[s.test]
		if t == nil {
			t = &span{begin: a.begin, end: a.end}
			tests[s.test] = t
			names = append(names, s.test)
		}
		t.failed = t.failed || a.failure != nil
		t.lost = t.lost || lost
		if a.begin.Before(t.begin) {
			t.begin = a.begin
		}
		if a.end.After(t.end) {
			t.end = a.end
		}
	}
	for _, name := range names {
		t := tests[name]
		events = append([]event{{Time: t.begin, Action: "run", Package: goPackage, Test: name}}, events...)
		failed = failed || t.failed
		if t.lost {
			continue
		}
		action := "pass"
		if t.failed {
			action = "fail"
		}
		events = append(events, event{
			Time: t.end, Action: action, Package: goPackage, Test: name, Elapsed: t.end.Sub(t.begin).Seconds(),
		})
	}
	return events, failed
}

// eventsOf are those of one attempt of one scenario.
func (g *generator) eventsOf(s *scenario, a attempt, lost bool) []event {
	of := event{Time: a.begin, Action: "run", Package: goPackage, Test: s.name}
	events := []event{of}
	say := func(at time.Time, line string) {
		e := of
		e.Time, e.Action, e.Output = at, "output", line+"\n"
		events = append(events, e)
	}
	say(a.begin, "=== RUN   "+s.name)
	for name, value := range sorted(s.values) {
		switch s.tells(name, g) {
		case inProperty:
			e := of
			e.Action, e.Key, e.Value = "attr", name, value
			events = append(events, e)
		case inLine:
			if name == "cluster" || name == "region" {
				say(a.begin.Add(time.Second), fmt.Sprintf("    cluster.go:31: using %s: %s", name, value))
			}
		case inName, nowhere:
		}
	}
	say(a.begin.Add(2*time.Second),
		"    vm.go:80: created machine "+g.variable("node", "")+" with address "+g.variable("ip", ""))
	if lost {
		return events
	}
	end := of
	end.Time, end.Elapsed, end.Action = a.end, a.end.Sub(a.begin).Seconds(), "pass"
	if a.failure != nil {
		end.Action = "fail"
		lines := strings.Split(a.failure.message, "\n")
		say(a.end, fmt.Sprintf("    %s:%d: %s", a.failure.text.file, a.failure.text.line, lines[0]))
		for _, line := range lines[1:] {
			say(a.end, "        "+line)
		}
	}
	say(a.end, fmt.Sprintf("--- %s: %s (%.2fs)", strings.ToUpper(end.Action), s.name, end.Elapsed))
	return append(events, end)
}

// aborts is how the events end before their time.
func (g *generator) aborts(shard []*scenario, abort string, at time.Time) []event {
	of := event{Time: at, Action: "output", Package: goPackage}
	var events []event
	say := func(line string) {
		e := of
		e.Output = line + "\n"
		events = append(events, e)
	}
	switch abort {
	case "killed":
		return nil
	case "timeout":
		say("panic: test timed out after 2h30m0s")
		say("\trunning tests:")
		for _, s := range shard {
			if s.lost && !s.missing {
				say("\t\t" + s.name + " (" + g.variable("dur", "") + ")")
			}
		}
	case "crash":
		say("fatal error: concurrent map writes")
		say("")
		say("goroutine 311 [running]:")
		say("example.io/node/e2e.(*pool).take(0xc0003a2000)")
		say("\t/src/e2e/pool.go:61 +0x9c")
	}
	say("FAIL\t" + goPackage + "\t3600.021s")
	fail := of
	fail.Action = "fail"
	return append(events, fail)
}

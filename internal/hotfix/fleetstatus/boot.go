package fleetstatus

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
)

// State is what a node's last boot came to.
type State string

// The states.
const (
	Staged      State = "staged"        // the hotfix runs
	Baked       State = "baked"         // the baked program, because no hotfix is named, or none could be had
	NotInCanary State = "not-in-canary" // the baked program or what is for all, for this node is none of the canary's
	FellBack    State = "fell-back"     // the hotfix was started and failed
	TrialsUsed  State = "trials-used"   // it has failed before, and is not started any more
	MarkedBad   State = "marked-bad"    // it was confirmed here, and died or hung later
	Postponed   State = "postponed"     // it could not be had at an earlier boot, and was not asked for
	Unfit       State = "unfit"         // what was had did not pass
	Stopped     State = "stopped"       // somebody ended the boot
	Failed      State = "failed"        // not even the baked program could be run
)

// States lists them in the order of tables.
func States() []State {
	return []State{Staged, Baked, NotInCanary, FellBack, TrialsUsed, MarkedBad, Postponed, Unfit, Stopped, Failed}
}

// boot is what the events between two ends of launch say.
type boot struct {
	at           time.Time
	base, target string
	state        State
	reason       string // more of it
	problems     []Problem
}

// Problem is something that stops a rollout.
type Problem struct {
	Node    string    `json:"node"`
	Target  string    `json:"target"`
	Problem string    `json:"problem"` // a word of docs/node-hotfix.md
	Says    string    `json:"says,omitempty"`
	Time    time.Time `json:"time"`
	Times   int       `json:"times"`
}

// The problems that are no states.
const (
	unprepared = "unprepared"
	notCounted = "not-counted"
)

// bootsOf parts a node's events into boots. What comes behind the last one was done by hand, and belongs to it.
func bootsOf(events []event.Event) []boot {
	var boots []boot
	begin := 0
	for at, one := range events {
		if one.Command != "launch" {
			continue
		}
		boots = append(boots, newBoot(one, events[begin:at]))
		begin = at + 1
	}
	if len(boots) > 0 {
		last := &boots[len(boots)-1]
		for _, one := range events[begin:] {
			if one.Target == last.target {
				last.problems = append(last.problems, problemsOf(one, last.target)...)
			}
		}
	}
	return boots
}

func newBoot(launch event.Event, before []event.Event) boot {
	b := boot{at: launch.Time, target: launch.Target}
	var decision hotfix.Decision
	var fetch event.Event
	for _, one := range before {
		if one.Decision != nil && (one.Command == "prepare" || one.Command == "fetch") {
			decision = *one.Decision
		}
		if one.Command == "fetch" {
			fetch = one
		}
	}
	b.state, b.reason = stateOf(launch, fetch, decision)
	switch canary := decision.Canary; {
	case canary == nil:
	case b.state == Staged && canary.Missed() != "": // it runs what is for all, and the canary's is what is asked about
		b.state, b.reason, b.target = NotInCanary, string(canary.Missed()), canary.Target
	case b.state != Staged && b.target == "":
		b.target = canary.Target
	}
	for _, text := range []string{b.target, decision.Current} {
		if version, err := hotfix.ParseVersion(text); err == nil {
			b.base = version.Base()
			break
		}
	}
	for _, one := range append(slices.Clone(before), launch) {
		b.problems = append(b.problems, problemsOf(one, b.target)...)
	}
	return b
}

// stateOf says what a boot came to.
func stateOf(launch, fetch event.Event, decision hotfix.Decision) (state State, reason string) {
	switch {
	case launch.Outcome == "fell-back":
		return FellBack, launch.Problem
	case launch.Outcome == "failed":
		return Failed, launch.Problem
	case launch.Outcome == "stopped":
		return Stopped, launch.Problem
	case launch.Reason == "staged":
		return Staged, ""
	case launch.Reason == "trials-used":
		return TrialsUsed, ""
	case launch.Reason == "marked-bad":
		return MarkedBad, ""
	case launch.Reason == "no-hotfix" && decision.Reason == hotfix.ReasonNotInCanary:
		return NotInCanary, ""
	case launch.Reason == "no-hotfix":
		return Baked, cmp.Or(string(decision.Reason), launch.Reason)
	case fetch.Outcome == "postponed":
		_, cause, _ := strings.Cut(fetch.Problem, " times: ") // without the time of the next try
		return Postponed, cause
	case fetch.Outcome == "unfit":
		return Unfit, fetch.Problem
	case fetch.Problem != "":
		return Baked, fetch.Outcome + ": " + fetch.Problem
	case launch.Problem != "":
		return Baked, launch.Reason + ": " + launch.Problem
	}
	return Baked, launch.Reason
}

// problemsOf lists what an event says that stops a rollout.
func problemsOf(one event.Event, target string) (problems []Problem) {
	add := func(what, says string) {
		problems = append(problems, Problem{Target: target, Problem: what, Says: says, Time: one.Time, Times: 1})
	}
	if stopping := []string{string(FellBack), string(Failed), string(Postponed), string(Unfit),
		string(MarkedBad)}; slices.Contains(stopping, one.Outcome) {
		add(one.Outcome, one.Problem)
	}
	if stopping := []string{string(TrialsUsed), string(MarkedBad), unprepared,
		notCounted}; one.Command == "launch" && slices.Contains(stopping, one.Reason) {
		add(one.Reason, one.Problem)
	}
	if one.Command == "fetch" && one.Scripts != nil {
		if stopping := []string{string(Postponed), "bad-payload"}; slices.Contains(stopping, one.Scripts.Outcome) {
			add("scripts-"+one.Scripts.Outcome, one.Scripts.Problem)
		}
	}
	if one.Command == "prepare" && one.Decision != nil {
		if reason := cmp.Or(one.Decision.Canary.Missed(), one.Decision.Reason); reason.Refuses() {
			add(string(reason), firstWarning(*one.Decision))
		}
	}
	return problems
}

func firstWarning(decision hotfix.Decision) string {
	if len(decision.Warnings) == 0 {
		return ""
	}
	return decision.Warnings[0].Problem
}

package stray

import (
	"cmp"
	"fmt"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

// The rules.
const (
	Stray   = "A1"
	Canary  = "A2"
	Podless = "A3"
	Storm   = "A4"
	Mount   = "A5"
	Agree   = "P4"
	Wedged  = "C5"
)

// Rules are all rules, in the order in which they are told. docs/prow.md says of each what to do about it.
func Rules() []string { return []string{Stray, Canary, Podless, Storm, Mount, Agree, Wedged} }

// Alarm evaluates one instance, one moment after the other. It is safe for concurrent use.
type Alarm struct {
	instance Instance
	memory   memory
}

// New makes the alarm of an instance.
func New(instance Instance) *Alarm { return &Alarm{instance: instance} }

// JobGone remembers a ProwJob that is not there any more, or can't be read any more: its pod may still be there.
func (a *Alarm) JobGone(job cluster.Job) {
	if job.Namespace == a.instance.ProwJobs {
		a.memory.jobGone(job)
	}
}

// PodGone remembers a pod that is not there any more: it was made all the same.
func (a *Alarm) PodGone(pod cluster.Pod, jobs Objects[cluster.Job]) {
	if at := a.place(pod, jobs, nil); at == home || at == astray {
		a.memory.podGone(pod.Created, at == astray)
	}
}

// Evaluate asks all rules. The error is one of a rule, and nothing that a cluster can cause.
func (a *Alarm) Evaluate(view View) (Result, error) {
	s := a.survey(view)
	result := Result{Blind: map[string]bool{}, Waiting: s.waiting(), Counts: s.counts}
	for _, rule := range Rules() {
		found, lack, blind := s.ask(rule)
		for i := range found {
			found[i].Rule = rule
		}
		verdict, err := finding.Judge(rule, found, lack)
		if err != nil {
			return Result{}, fmt.Errorf("rule %s: %w", rule, err)
		}
		result.Blind[rule] = blind
		result.Findings = append(result.Findings, found...)
		result.Verdicts = append(result.Verdicts, verdict)
	}
	return result, nil
}

// ask asks one rule. Of several inputs that it lacks the first is told. Rules about what is not there, or about how
// long something lasts, are blind while changes are not seen; what the others found stays as it was last seen.
//
// What a rule found holds whatever it lacks: a lack takes nothing away but its OK.
func (s *survey) ask(rule string) (found finding.List, lack finding.Lack, blind bool) {
	unseen := s.unseen()
	seen := cmp.Or(unseen, s.view.Sources.Lack)
	outside := cmp.Or(seen, s.everywhere(), s.opaque(), s.doubts())
	switch rule {
	case Stray:
		return s.strays(), cmp.Or(outside, disputes(s.disputed, s.instance.Pods)), false
	case Canary:
		found, unsure := s.canaries()
		return found, cmp.Or(outside, s.view.Rollout.Lack, disputes(unsure, s.instance.Pods)), false
	case Mount:
		found, unknown := s.mounts()
		return found, cmp.Or(outside, s.view.MissingLack, unknown, vague(s.found), vague(s.disputed)), false
	case Agree:
		return s.agreement(), cmp.Or(unseen, s.sources(), s.unreadJobs()), false
	case Wedged:
		if len(s.instance.Deploys) == 0 && s.instance.DeploysLack.Reason != "" {
			return nil, s.instance.DeploysLack, false
		}
	}
	if unseen.Reason != "" {
		return nil, unseen, true
	}
	switch rule {
	case Podless:
		found, lack = s.podless()
	case Storm:
		found, lack = s.storms()
	case Wedged:
		found, lack = s.wedged()
		lack = cmp.Or(lack, s.everywhere(), s.instance.DeploysLack)
	}
	return found, cmp.Or(seen, lack, s.otherClusters()), false
}

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
	Wedged  = "C5"
)

// Rules are all rules, in the order in which they are told. docs/prow.md says of each what to do about it.
func Rules() []string { return []string{Stray, Canary, Podless, Storm, Mount, Wedged} }

// Alarm evaluates one instance, one moment after the other. It is safe for concurrent use.
type Alarm struct {
	instance Instance
	memory   memory
}

// New makes the alarm of an instance.
func New(instance Instance) *Alarm { return &Alarm{instance: instance} }

// JobGone remembers a ProwJob that is not there any more: its pod may still be.
func (a *Alarm) JobGone(job cluster.Job) {
	if job.Namespace == a.instance.ProwJobs {
		a.memory.jobGone(job)
	}
}

// PodGone remembers a pod that is not there any more: it was made all the same.
func (a *Alarm) PodGone(pod cluster.Pod, jobs Objects[cluster.Job]) {
	astray := a.astray(pod, jobs)
	if astray || pod.Namespace == a.instance.Pods {
		a.memory.podGone(pod.Created, astray)
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
func (s *survey) ask(rule string) (found finding.List, lack finding.Lack, blind bool) {
	unseen := s.unseen()
	seen := cmp.Or(unseen, s.unread(), s.sources())
	switch rule {
	case Stray:
		return s.strays(), cmp.Or(seen, s.everywhere()), false
	case Canary:
		return s.canaries(), cmp.Or(seen, s.everywhere(), s.view.Rollout.Lack), false
	case Mount:
		found, unknown := s.mounts()
		return found, cmp.Or(seen, s.everywhere(), s.view.MissingLack, unknown), false
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
		found = s.podless()
	case Storm:
		found = s.storms()
	case Wedged:
		found, lack = s.wedged()
		lack = cmp.Or(lack, s.everywhere(), s.instance.DeploysLack)
	}
	return found, cmp.Or(seen, lack, s.elsewhere()), false
}

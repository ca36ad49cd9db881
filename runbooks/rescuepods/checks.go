package rescuepods

import (
	"context"
	"errors"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// record is the record of the pods as it was read back, or why it is not this run's.
type record struct {
	Pods  int  `json:"pods"`
	Found bool `json:"found"`
	// Foreign is why it is another's; empty when it is ours.
	Foreign string `json:"foreign"`
}

func (r *rescue) readRecord(ctx context.Context, run runbook.Run) (record, error) {
	pods, found, err := r.ReadRecorded(ctx, run)
	seen := record{Pods: len(pods), Found: found}
	var foreign *stranded.ForeignError
	if errors.As(err, &foreign) {
		seen.Foreign, err = foreign.Error(), nil
	}
	return seen, err
}

func (seen record) kept() runbook.Finding {
	switch {
	case seen.Foreign != "":
		return runbook.No("%s", seen.Foreign).WithOutcome(runbook.NeedsAttention).NotOverridable()
	case !seen.Found:
		return runbook.Unknownf("not found: the run has no record of pods")
	}
	return runbook.Yes("pods that were read back: %d", seen.Pods)
}

// statusOfAll says what became of the recorded pods.
func (r *rescue) statusOfAll(ctx context.Context, run runbook.Run) (stranded.Status, error) {
	return r.status(ctx, run, all)
}

// fate is what decisions take of what became of the recorded pods.
type fate struct {
	// Remaining and Touched name pods for which a check does not hold; empty when there is none.
	Remaining string `json:"remaining"`
	Touched   string `json:"touched"`
	// The others are counted.
	Gone        int `json:"gone"`
	Free        int `json:"free"`
	Unselected  int `json:"unselected"`
	Stuck       int `json:"stuck"`
	Terminating int `json:"terminating"`
}

func fateOf(now stranded.Status) fate {
	return fate{
		Remaining: now.Left(), Touched: now.Touched(), Gone: len(now.Gone), Free: len(now.Free),
		Unselected: len(now.Unselected), Stuck: len(now.Stuck), Terminating: len(now.Terminating),
	}
}

func (r *rescue) readFate(ctx context.Context, run runbook.Run) (fate, error) {
	now, err := r.statusOfAll(ctx, run)
	return fateOf(now), err
}

func (r *rescue) recordedGone() runbook.Guard {
	return runbook.Ask("recorded-gone", "are the recorded pods gone?", r.readFate, recordedGone)
}

func recordedGone(now fate) runbook.Finding {
	if now.Remaining != "" {
		return runbook.No("%s", now.Remaining)
	}
	return runbook.Yes("gone: %d; free to start where they are, and left alone: %d; "+
		"no longer selected, and left alone: %d", now.Gone, now.Free, now.Unselected)
}

// leftAlone is what became of the recorded pods, beside those that a run leaves alone.
type leftAlone struct {
	fate
	Left     int                `json:"left"`
	Evidence []runbook.Evidence `json:"evidence"`
}

func (r *rescue) runningUntouched() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (leftAlone, error) {
		now, err := r.readFate(ctx, run)
		if err != nil {
			return leftAlone{}, err
		}
		seen, err := r.read(ctx, run)
		if err != nil {
			return leftAlone{}, err
		}
		return leftAlone{now, len(seen.Left), seen.Evidence()}, nil
	}
	return runbook.Ask("running-untouched", "was no pod touched in which something has started?", read, runningUntouched)
}

func runningUntouched(now leftAlone) runbook.Finding {
	finding := runbook.Yes("left alone elsewhere: %d", now.Left-now.Stuck-now.Terminating)
	if now.Touched != "" {
		finding = runbook.No("%s", now.Touched)
	}
	return finding.WithEvidence(now.Evidence...)
}

// accounts is what became of the jobs of the recorded pods.
type accounts struct {
	// Waiting is a job that has no pod yet; empty when there is none. Text counts the others.
	Waiting string `json:"waiting"`
	Text    string `json:"text"`
}

func accountsOf(after stranded.Replacement) accounts {
	seen := accounts{Text: after.String()}
	if len(after.Waiting) > 0 {
		seen.Waiting = after.Waiting[0]
	}
	return seen
}

func (r *rescue) jobsAccountedFor() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (accounts, error) {
		now, err := r.statusOfAll(ctx, run)
		if err != nil {
			return accounts{}, err
		}
		after, err := r.ReplacementOf(ctx, run, r.jobs(), now.Deleted())
		return accountsOf(after), err
	}
	return runbook.Ask("jobs-accounted-for", "has each unfinished job a pod where it belongs, or is it listed?",
		read, r.in.jobsAccountedFor)
}

func (in Inputs) jobsAccountedFor(after accounts) runbook.Finding {
	if after.Waiting != "" {
		return runbook.No("job %s is not complete, has no pod in %s, and is not listed", after.Waiting, in.expected())
	}
	return runbook.Yes("%s", after.Text)
}

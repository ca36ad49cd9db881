package rescuepods

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// tally is what decisions take of a reading: counts, and the pods that one of them names.
type tally struct {
	// Expected pods are where they belong, Stranded and Left ones elsewhere.
	Expected int `json:"expected"`
	Stranded int `json:"stranded"`
	Left     int `json:"left"`
	// Live counts the pods of a Prow instance that wait or run, those of others aside.
	Live int `json:"live"`
	// Blind is why it can't be told of a pod what it waits for; nil when all was seen.
	Blind *runbook.Failure `json:"blind"`
	// Youngest is the newest of the pods elsewhere that no controller made; nil when there is none.
	Youngest *youngest `json:"youngest"`
	// Now is the API server's time, Seen ours.
	Now  time.Time `json:"now"`
	Seen time.Time `json:"seen"`
}

// youngest is a pod, dated by the API server's clock.
type youngest struct {
	Pod     string    `json:"pod"`
	UID     types.UID `json:"uid"`
	Created time.Time `json:"created"`
}

func tallyOf(seen *stranded.Reading) tally {
	counted := tally{
		Expected: len(seen.Expected), Stranded: len(seen.Stranded), Left: len(seen.Left), Live: liveOf(seen),
		Blind: runbook.FailureOf(seen.Blind), Now: seen.Now, Seen: seen.Seen,
	}
	if pod, found := seen.Youngest(); found {
		counted.Youngest = &youngest{pod.String(), pod.UID, pod.Created}
	}
	return counted
}

// guard is one that decides by the round's tally.
func (r *rescue) guard(name, question string, decide func(tally) runbook.Finding) runbook.Guard {
	return runbook.Ask(name, question, r.readTally, decide)
}

func (r *rescue) readTally(ctx context.Context, run runbook.Run) (tally, error) {
	seen, err := r.read(ctx, run)
	if err != nil {
		return tally{}, err
	}
	return tallyOf(seen), nil
}

// shown is a tally with what shows the pods.
type shown struct {
	tally
	Evidence []runbook.Evidence `json:"evidence"`
}

func (r *rescue) readShown(ctx context.Context, run runbook.Run) (shown, error) {
	seen, err := r.read(ctx, run)
	if err != nil {
		return shown{}, err
	}
	return shown{tallyOf(seen), seen.Evidence()}, nil
}

// liveOf counts the instance's live pods.
func liveOf(seen *stranded.Reading) int {
	all := len(seen.Stranded)
	for _, pod := range seen.Expected {
		if pod.Live() {
			all++
		}
	}
	for _, pod := range seen.Left {
		if pod.Live() && !pod.Foreign {
			all++
		}
	}
	return all
}

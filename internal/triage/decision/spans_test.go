package decision

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestSpansAnswerForEachWholeHour as the runs one by one do.
func TestSpansAnswerForEachWholeHour(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		var runs []Run
		at := noon.Add(-24*time.Hour + time.Nanosecond)
		for at.Before(noon) {
			run := Run{Change: fmt.Sprint("pr-", random.IntN(6)), Time: at, Of: 1 + random.IntN(300)}
			switch random.IntN(4) {
			case 0:
				run.Failed = random.IntN(run.Of)
			case 1:
				run.FailedOtherwise = random.IntN(12)
			}
			runs = append(runs, run)
			at = at.Add(time.Duration(random.Int64N(int64(90 * time.Minute))))
		}
		runs = append(runs, Run{Change: "baseline 1", Failed: random.IntN(2), Of: 7}, Run{Change: "baseline 2", Of: 5})
		question := Question{Ways: []int{0}}
		scenarios := 10
		e := Evidence{Past: Past{History: Asked, Hours: 24, Runs: []Answer{{question, Spans(runs, noon)}}}}
		for hours := 1; hours <= 24; hours++ {
			thresholds := triage.Default()
			thresholds.BaselineHours = hours
			got, err := e.before(question, scenarios, thresholds)
			if err != nil {
				t.Fatal(err)
			}
			want := oneByOne(runs, hours, scenarios)
			got.rates, want.rates = nil, nil
			if !cmp.Equal(want, got, cmp.AllowUnexported(prior{})) {
				t.Fatalf("seed %d, %d h: %+v, want %+v", seed, hours, got, want)
			}
		}
	}
}

func oneByOne(runs []Run, hours, scenarios int) prior {
	var p prior
	seen := map[string]bool{}
	for _, run := range runs {
		if !run.Time.IsZero() && !run.Time.After(noon.Add(-time.Duration(hours)*time.Hour)) {
			continue
		}
		p.runs++
		p.otherwise += one(run.Failed == 0 && run.FailedOtherwise > 0 && 2*run.FailedOtherwise >= scenarios)
		if run.Failed > 0 {
			seen[run.Change] = true
			if p.first.IsZero() && !run.Time.IsZero() {
				p.first = run.Time
			}
		}
	}
	p.seen = len(seen)
	return p
}

// TestRunsWithoutTheFailureAreOneSpanAnHour: a history of very many runs takes no more than the hours of a day.
func TestRunsWithoutTheFailureAreOneSpanAnHour(t *testing.T) {
	var runs []Run
	for i := range 24 * 60 {
		runs = append(runs, Run{Change: fmt.Sprint(i), Time: noon.Add(time.Duration(i-24*60+1) * time.Minute), Of: 100})
	}
	spans := Spans(runs, noon)
	if len(spans) != 24 {
		t.Errorf("%d spans", len(spans))
	}
	runs[700].Failed = 3
	want := []Span{
		{Hours: 12, Runs: 40, Of: 4000}, {Hours: 12, Runs: 1, Change: "700", At: &runs[700].Time, Failed: 3, Of: 100},
		{Hours: 12, Runs: 19, Of: 1900},
	}
	if diff := cmp.Diff(want, Spans(runs, noon)[11:14]); diff != "" {
		t.Error(diff)
	}
}

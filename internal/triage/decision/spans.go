package decision

import "time"

// Run is one run of another change, and what it shows.
type Run struct {
	Change          string
	Time            time.Time // zero: a run of the baseline
	Failed, Of      int       // of the scenarios in question
	FailedOtherwise int       // of them, in a run in which none failed so
}

// Spans puts runs together, which come by time, those of the baseline last. Threshold's hours are whole, so that a
// shorter time can be asked about than the runs were found in.
func Spans(runs []Run, now time.Time) []Span {
	spans := []Span{}
	for _, run := range runs {
		span := Span{Hours: -1, Runs: 1, Of: run.Of}
		if !run.Time.IsZero() {
			span.Hours = int(max(0, now.Sub(run.Time)) / time.Hour)
		}
		if run.Failed > 0 {
			span.Change, span.Failed = run.Change, run.Failed
			if !run.Time.IsZero() {
				at := run.Time.UTC()
				span.At = &at
			}
			spans = append(spans, span)
			continue
		}
		if run.FailedOtherwise > 0 {
			span.Otherwise = []int{run.FailedOtherwise}
		}
		if last := len(spans) - 1; last >= 0 && spans[last].Failed == 0 && spans[last].Hours == span.Hours {
			spans[last].Runs++
			spans[last].Of += span.Of
			spans[last].Otherwise = append(spans[last].Otherwise, span.Otherwise...)
			continue
		}
		spans = append(spans, span)
	}
	return spans
}

package console

import (
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestUsualTimes: a step at work is set against what is usual, the run says what is left, and what takes longer is
// overdue: nothing is ever negative.
func TestUsualTimes(t *testing.T) {
	for _, row := range []struct {
		name    string
		after   time.Duration
		width   int
		usual   map[string]time.Duration
		want    []string
		without []string
	}{
		{"on time", 195 * time.Second, 80, recovery().usual,
			[]string{"1m12s of about 2m", "3m15s, about 5m30s left", "about 2m30s\n"}, nil},
		{"a little late", 250 * time.Second, 80, recovery().usual, []string{"2m7s of about 2m", "about 5m left"}, nil},
		{"overdue", 12 * time.Minute, 80, recovery().usual,
			[]string{"9m57s, overdue: about 2m is usual", "about 5m left"}, []string{"-"}},
		{"narrow", 195 * time.Second, 50, recovery().usual, []string{"1m12s/~2m", "~5m30s left", "~2m30s"}, nil},
		{"narrow and overdue", 12 * time.Minute, 50, recovery().usual, []string{"9m57s, over ~2m"}, nil},
		{"not all known", 195 * time.Second, 80, map[string]time.Duration{"recreate": 2 * time.Minute},
			[]string{"at least 2m left", " 1m12s\n"}, []string{"1m12s of"}},
		{"nothing known", 195 * time.Second, 80, nil, []string{" 3m15s\n", " 1m12s\n"}, []string{"about", "left"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			picture := recovery()
			picture.usual = row.usual
			frame := uncoloured(picture.draw(midnight.Add(row.after), row.width, 24, 0))
			for _, want := range row.want {
				if !strings.Contains(frame, want) {
					t.Errorf("%q is not drawn:\n%s", want, frame)
				}
			}
			for _, other := range row.without {
				if strings.Contains(strings.NewReplacer("-in", "", "-pool", "", "-cluster", "", "-1", "", "aks-", "", "-0", "",
					"-2", "", "-4", "", "26-", "", "retire-", "", "-stand", "").Replace(frame), other) {
					t.Errorf("%q is drawn:\n%s", other, frame)
				}
			}
		})
	}
}

// TestLeftOfParallelSteps: of steps that run at once the longest counts.
func TestLeftOfParallelSteps(t *testing.T) {
	picture := rollout([]string{"g/one", "g/two"}, []string{"g/three", "g/four"}, []string{"g/five"})
	picture.usual = map[string]time.Duration{"g/one": time.Hour, "g/two": time.Hour, "g/three": time.Minute,
		"g/four": 5 * time.Minute, "g/five": 10 * time.Minute}
	left, all := picture.remaining(midnight.Add(30 * time.Second))
	if left != 15*time.Minute || !all {
		t.Errorf("%s are left, all known: %v", left, all)
	}
}

// TestNothingIsLeftAtTheEnd: neither once it is over nor while something is taken back.
func TestNothingIsLeftAtTheEnd(t *testing.T) {
	for name, event := range map[string]engine.Event{
		"undoing": {Kind: engine.RollbackBegan, Text: "no capacity"}, "checking": {Kind: engine.ChecksBegan},
		"over": {Kind: engine.RunEnded, At: midnight.Add(time.Hour), Verdict: &journal.Verdict{Outcome: runbook.Failed}},
	} {
		picture := recovery()
		picture.take(event)
		if frame := uncoloured(picture.draw(midnight.Add(195*time.Second), 80, 0, 0)); strings.Contains(frame, " left") {
			t.Errorf("%s:\n%s", name, frame)
		}
	}
}

// TestAbout: no more exactly than it is known.
func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		200 * time.Millisecond: "1s", 7 * time.Second: "7s", 23 * time.Second: "25s", 61 * time.Second: "1m",
		134 * time.Second: "2m", 150 * time.Second: "2m30s", 11*time.Minute + 20*time.Second: "11m", time.Hour: "1h",
		95 * time.Minute: "1h35m",
	} {
		if got := about(d); got != want {
			t.Errorf("%s: about %s, want %s", d, got, want)
		}
	}
}

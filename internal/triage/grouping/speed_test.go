package grouping_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"salve/internal/triage/grouping"
)

// BenchmarkGrouping gives every one of n failures its key, collects them by it, and merges what is left: CPU seconds
// for 8,000 and 500,000 failures of two lines, and how the time grows when their number doubles.
func BenchmarkGrouping(b *testing.B) {
	for b.Loop() {
		small := fastest(b, 5, failures(8_000))
		half := fastest(b, 3, failures(250_000))
		whole := fastest(b, 3, failures(500_000))
		b.ReportMetric(small.Seconds(), "cpu-s/8000")
		b.ReportMetric(whole.Seconds(), "cpu-s/500000")
		b.ReportMetric(float64(whole)/float64(half), "time(2n)/time(n)")
	}
}

// BenchmarkGroupingStacks is of whole stacks instead: bytes for a second.
func BenchmarkGroupingStacks(b *testing.B) {
	all, size := samples(), 0
	for _, s := range all {
		size += len(s.failure.Text) + len(s.failure.Message)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, s := range all {
			grouping.Identify(s.failure)
		}
	}
}

func fastest(b *testing.B, times int, of []grouping.Failure) time.Duration {
	best := time.Duration(0)
	for range times {
		start := cpu(b)
		keys := map[grouping.Key]int{}
		var merger grouping.Merger
		for _, failure := range of {
			identity := grouping.Identify(failure)
			if keys[identity.Key]++; keys[identity.Key] == 1 {
				merger.Add(identity.Message)
			}
		}
		merged := merger.Groups()
		if took := cpu(b) - start; best == 0 || took < best {
			best = took
		}
		if len(keys) < 500 || len(merged) == 0 || len(merged) > len(keys) {
			b.Fatalf("%d groups of %d keys", len(merged), len(keys))
		}
	}
	return best
}

// failures have two lines each: some causes come again and again, and one in ten is of a statement of its own.
func failures(n int) []grouping.Failure {
	chance := rand.New(rand.NewPCG(9, uint64(n)))
	verbs := []string{"opens", "shuts", "lifts", "drops", "hails", "tows", "loads", "moors", "pumps", "paints"}
	nouns := []string{"gate", "crane", "anchor", "cargo", "pilot", "barge", "hatch", "bilge", "mast", "hull",
		"buoy", "lock"}
	word := func() string {
		return nouns[chance.IntN(len(nouns))] + nouns[chance.IntN(len(nouns))]
	}
	all := make([]grouping.Failure, n)
	for i := range all {
		first := fmt.Sprintf("pod %s-%x-%d on node aks-pool1-%d-vmss%06d not ready after %dm%ds", nouns[chance.IntN(3)],
			chance.Uint32(), chance.IntN(9), chance.IntN(1e8), chance.IntN(100), chance.IntN(10), chance.IntN(60))
		if chance.IntN(10) == 0 {
			first = fmt.Sprintf("%s %s %s at berth %d", word(), verbs[chance.IntN(len(verbs))], word(), chance.IntN(1e6))
		}
		all[i] = grouping.Failure{Text: fmt.Sprintf("%s\n"+
			"In [It] at: example.com/port/e2e/%s.go:%d @ 11/23/26 21:%02d:%02d.%03d",
			first, nouns[chance.IntN(len(nouns))], 1+chance.IntN(900), chance.IntN(60), chance.IntN(60), chance.IntN(1000))}
	}
	return all
}

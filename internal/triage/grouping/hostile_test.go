package grouping_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"salve/internal/triage/grouping"
)

// hostile are texts on which a scanner that looks back or ahead too far takes quadratic time.
var hostile = map[string]string{
	"one token":         "a",
	"hexadecimal":       "a1",
	"digits":            "7",
	"opened":            "(",
	"nested":            "[{(<",
	"marks":             "<num>",
	"half marks":        "<nu",
	"colons":            ":",
	"hex and colons":    "ab:",
	"pairs":             "12:",
	"dates":             "2026-11-23 ",
	"dots":              "1.",
	"slashes":           "/a",
	"empty folders":     "/",
	"folders and signs": "/-",
	"drives":            `C:\a`,
	"schemes":           "http://",
	"equals":            "a=/b/",
	"quotes":            `"'`,
	"units":             "1h",
	"hyphens":           "a-",
	"random names":      "-x2kqz",
	"nodes":             "node-",
	"node names":        "node a",
	"not ASCII":         "港",
	"not UTF-8":         "\xff",
	"escapes":           "\x1b[3",
	"blanks":            " ",
	"places":            "a.go:1:",
	"carriage returns":  "\r",
	"log lines":         "a_test.go:1: b\n",
	"indented":          "a_test.go:1: b\n ",
	"panics":            "panic: a\n",
	"goroutines":        "panic: a\ngoroutine 1 [running]:\n",
	"go frames":         "panic: a\na/b.C(0x1)\n\t/usr/a.go:1 +0x1\n",
	"own frames":        "testing.a(0x1)\n\ta.go:1\n",
	"races":             "WARNING: DATA RACE\nWrite at 0x1 by a:\n",
	"accesses":          "Write at 0x1 by a:\n",
	"testify":           "Error Trace:\ta.go:1\nError:\n",
	"ginkgo":            "[FAILED] a\n",
	"ginkgo's ends":     "In [It] at: a.go:1 @ 1\n",
	"java":              "a\n\tat a.b.C.d(E.java:1)\n",
	"causes":            "Caused by: a\n",
	"tracebacks":        "Traceback (most recent call last):\n",
	"logged tracebacks": "1 Traceback (most recent call last):\n1 a\n",
	"pytest":            "E   a\n",
	"definitions":       "def a(\n",
	"rust":              "thread 'a' panicked at 'b\n",
	"diffs":             "--- a\n",
	"empty lines":       "\n",
}

// shapes put a hostile text where each reader meets it.
var shapes = map[string]func(string) grouping.Failure{
	"text":    func(s string) grouping.Failure { return grouping.Failure{Text: s} },
	"message": func(s string) grouping.Failure { return grouping.Failure{Message: s} },
	"panic":   func(s string) grouping.Failure { return grouping.Failure{Text: "panic: a\n" + s} },
	"race":    func(s string) grouping.Failure { return grouping.Failure{Text: "WARNING: DATA RACE\n" + s} },
	"testify": func(s string) grouping.Failure { return grouping.Failure{Text: "Error Trace:\ta.go:1\nError:\t" + s} },
	"ginkgo":  func(s string) grouping.Failure { return grouping.Failure{Text: s + "\nIn [It] at: a.go:1 @ 1"} },
	"pytest":  func(s string) grouping.Failure { return grouping.Failure{Text: "E   " + s} },
	"traceback": func(s string) grouping.Failure {
		return grouping.Failure{Text: s + "Traceback (most recent call last):\n" + s}
	},
	"stack": func(s string) grouping.Failure { return grouping.Failure{Text: s + "\n\tat a.b(C.java:1)\n" + s} },
}

// TestHostileTextsAreBounded: what is shown of them, and the groups that they make. Their time is
// BenchmarkGroupingHostile's.
func TestHostileTextsAreBounded(t *testing.T) {
	for name, piece := range hostile {
		s := strings.Repeat(piece, 1<<16/len(piece))
		for shape, failure := range shapes {
			if got := grouping.Identify(failure(s)); len(got.Message) > 512 || len(got.Frame) > 200 || len(got.Place) > 220 {
				t.Errorf("%s as %s: %d bytes of message", name, shape, len(got.Message))
			}
		}
		var m grouping.Merger
		m.Add(s)
		m.Add("a " + s)
		if got := m.Groups(); len(got) == 0 || len(got) > 2 {
			t.Errorf("%s: %d groups", name, len(got))
		}
	}
}

// BenchmarkGroupingHostile gives the worst ratio of the time for 4n bytes to that for n, over all hostile texts: 4 is
// linear, 16 quadratic.
func BenchmarkGroupingHostile(b *testing.B) {
	took := func(f func()) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			start := cpu(b)
			f()
			best = min(best, cpu(b)-start)
		}
		return best
	}
	for b.Loop() {
		worst, slowest := 0.0, 0.0
		for name, piece := range hostile {
			small := strings.Repeat(piece, 1<<17/len(piece))
			large := strings.Repeat(small, 4)
			for shape, failure := range shapes {
				n := took(func() { grouping.Identify(failure(small)) })
				n4 := took(func() { grouping.Identify(failure(large)) })
				slowest = max(slowest, float64(n4.Nanoseconds())/float64(len(large)))
				if ratio := float64(n4) / float64(n); n > 2*time.Millisecond && ratio > worst { // shorter ones are noise
					worst = ratio
					b.Logf("%s as %s: %v for %d bytes, %v for four times as many: %.1f", name, shape, n, len(small), n4, ratio)
				}
			}
		}
		b.ReportMetric(worst, "time(4n)/time(n)")
		b.ReportMetric(slowest, "ns/byte")
	}
}

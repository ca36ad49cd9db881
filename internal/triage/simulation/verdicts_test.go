package simulation_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/simulation"
)

var (
	seeds = flag.Int("seeds", defaultSeeds, "runs of TestVerdicts")
	first = flag.Uint64("first", 0, "seed of the first one")
	only  = flag.String("kind", "", "runs of this kind alone")
)

// TestVerdicts measures verdicts on runs whose truth is known. It never fails for a run by itself, but for what no run
// may have, and for shares of all.
func TestVerdicts(t *testing.T) {
	kinds := simulation.Kinds()
	if *only != "" {
		kinds = []simulation.Kind{simulation.Kind(*only)}
	}
	scores := make([]score, *seeds)
	work := make(chan int)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for i := range work {
				seed := *first + uint64(i)
				w, result := analyze(t, seed, kinds[seed%uint64(len(kinds))])
				if result != nil {
					replaysEqually(t, result)
				}
				scores[i] = judge(w, result)
			}
		})
	}
	for i := range scores {
		work <- i
	}
	close(work)
	group.Wait()
	m := newMatrix(scores)
	t.Log("\n" + m.String())
	m.check(t)
}

// analyze generates a run and triages it.
func analyze(t *testing.T, seed uint64, kind simulation.Kind) (simulation.World, *analysis.Result) {
	t.Helper()
	folder, err := os.MkdirTemp(scratch(), "salve-triage-")
	if err != nil {
		t.Error(err)
		return simulation.World{}, nil
	}
	defer os.RemoveAll(folder) //nolint:errcheck // of thousands, one at a time
	w, r := prepare(t, folder, seed, kind)
	result, err := analysis.Analyze(t.Context(), r)
	if err != nil {
		t.Errorf("seed %d, %s: %v", seed, kind, err)
	}
	return w, result
}

// prepare generates a run in a folder, and the request to triage it.
func prepare(t *testing.T, folder string, seed uint64, kind simulation.Kind) (simulation.World, analysis.Request) {
	t.Helper()
	w, err := simulation.Generate(folder, seed, kind)
	if err != nil {
		t.Error(err)
		return w, analysis.Request{}
	}
	r := analysis.Request{
		Paths: w.Results, Baseline: w.Baseline, Build: fmt.Sprintf("build-%d", seed),
		ChangedAt: w.ChangedAt, Now: w.Now, Thresholds: triage.Default(),
	}
	if w.Catalogue != "" {
		if r.Catalogue, err = catalogue.Load(w.Catalogue); err != nil {
			t.Error(err)
		}
	}
	if w.Map != "" {
		if r.Map, err = change.LoadMap(w.Map); err != nil {
			t.Error(err)
		}
	}
	r.Change = readDiff(t, w.Diff)
	if w.Recorded {
		r.Past = past(t, w, r.Build)
	}
	return w, r
}

// scratch is a folder in memory where there is one: a run is hundreds of small files.
func scratch() string {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err == nil && info.IsDir() {
		return memory
	}
	return ""
}

func readDiff(t *testing.T, path string) *change.Change {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer file.Close()
	c, err := change.ReadDiff(file)
	if err != nil {
		t.Error(err)
	}
	return c
}

// score is one run judged.
type score struct {
	seed     uint64
	kind     simulation.Kind
	answers  []answer
	blamed   []string // groups of an innocent change that it is suspected of
	waved    []string // groups with the change's failures that somebody else is said to be
	unmarked bool     // aborted, and the document doesn't say so
}

// answer is what was said of one cause, or of the whole run.
type answer struct {
	about      string
	knowable   bool
	verdict    triage.Verdict
	right      bool
	undecided  bool
	confidence triage.Confidence
	text       string
}

func judge(w simulation.World, r *analysis.Result) score {
	s := score{seed: w.Seed, kind: w.Kind}
	if r == nil {
		return s
	}
	d := r.Document
	s.unmarked = w.Truth.Aborted && d.Aborted == nil
	most := map[string]int{}
	answers := map[string]answer{}
	for i := range d.Groups {
		g := &d.Groups[i]
		members := causesOf(w, r, g.Key)
		s.safety(w, g, members)
		for name, n := range members {
			c, planted := w.Truth.Cause(name)
			if !planted || n <= most[name] {
				continue
			}
			most[name] = n
			answers[name] = newAnswer(name, c, g)
		}
	}
	for _, c := range w.Truth.Causes {
		if a, there := answers[c.Name]; there {
			s.answers = append(s.answers, a)
		} else {
			s.answers = append(s.answers, answer{about: c.Name, knowable: c.Knowable, text: "in no group"})
		}
	}
	s.answers = append(s.answers, s.whole(w, d))
	return s
}

func newAnswer(name string, c simulation.Cause, g *triage.Group) answer {
	return answer{
		about: name, knowable: c.Knowable, verdict: g.Verdict, right: slices.Contains(c.Right, string(g.Verdict)),
		undecided: g.Verdict == triage.Undecided, confidence: g.Confidence,
		text: fmt.Sprintf("%d failures: %s. %s; %s [%s] sig=%v: %s", g.Failures, g.Message, g.Cause.Text, g.Alternative.Text,
			strings.Join(g.Reasons, ", "), ids(g), c.Why),
	}
}

func ids(g *triage.Group) []string {
	var out []string
	for _, s := range g.Signatures {
		out = append(out, fmt.Sprintf("%s(%s %d/%d pass %d)", s.ID, s.Class, s.Failures, g.Failures, s.Passing))
	}
	return out
}

// causesOf counts the scenarios of a group by why they really failed.
func causesOf(w simulation.World, r *analysis.Result, key string) map[string]int {
	members := map[string]int{}
	for i := range r.Run.Groups {
		if string(r.Run.Groups[i].Key) != key {
			continue
		}
		for _, row := range r.Run.Groups[i].Rows {
			why, known := w.Truth.Failing[r.Run.Scenarios[row].Name]
			if !known {
				why = simulation.Lost // the package itself
			}
			members[why]++
		}
	}
	return members
}

// safety notes what must never happen.
func (s *score) safety(w simulation.World, g *triage.Group, members map[string]int) {
	guilty := 0
	for name, n := range members {
		if c, planted := w.Truth.Cause(name); planted && c.Change {
			guilty += n
		}
	}
	said := fmt.Sprintf("%s %s, %d failures %v: %s; %s; %s sig=%v",
		g.Verdict, g.Message, g.Failures, members, g.Cause.Text,
		g.Alternative.Text, g.Baseline.Text, ids(g))
	switch {
	case guilty == 0 && g.Verdict == triage.SuspectedChange:
		s.blamed = append(s.blamed, said)
	case guilty > 0 && g.Verdict != triage.SuspectedChange && g.Verdict != triage.Undecided:
		s.waved = append(s.waved, said)
	}
}

// whole is the verdict of the run. What fails now and then may rightly be new, or undecided, beside what was planted.
func (s *score) whole(w simulation.World, d *triage.Document) answer {
	guilty := slices.ContainsFunc(w.Truth.Causes, func(c simulation.Cause) bool { return c.Change })
	a := answer{about: "whole", verdict: d.Verdict, confidence: d.Confidence, text: d.Summary}
	var right []string
	others := 0
	for _, why := range w.Truth.Failing {
		if why == simulation.Noise || why == simulation.Lost {
			others++
		}
	}
	switch {
	case guilty:
		right = []string{"suspected-change"}
		if d.Verdict == triage.Passed || d.Verdict == triage.KnownInfrastructure || d.Verdict == triage.KnownProduct {
			s.waved = append(s.waved, "the run is "+string(d.Verdict)+": "+d.Summary)
		}
	case len(w.Truth.Failing) == 0 && !w.Truth.Aborted:
		right, a.knowable = []string{"passed"}, true
	case w.Truth.Aborted:
		right = []string{"undecided", "new"}
	default:
		for _, c := range w.Truth.Causes {
			right = append(right, c.Right...)
		}
		if others > 0 {
			right = append(right, "new", "known-infrastructure", "known-product", "undecided")
		}
	}
	if !guilty && d.Verdict == triage.SuspectedChange {
		s.blamed = append(s.blamed, "the run: "+d.Summary)
	}
	a.right = slices.Contains(right, string(d.Verdict))
	a.undecided = d.Verdict == triage.Undecided && !a.right
	return a
}

package grouping_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

// logSet is lines of one system, with the statement that each comes from.
type logSet struct{ lines, truth []string }

func logSets(t testing.TB) map[string]*logSet {
	sets := map[string]*logSet{}
	eachLine(t, "loghub2k/content-template.jsonl.gz", func(raw []byte) {
		var record struct{ D, C, E string }
		if err := json.Unmarshal(raw, &record); err != nil {
			t.Fatal(err)
		}
		set := sets[record.D]
		if set == nil {
			set = &logSet{}
			sets[record.D] = set
		}
		set.lines = append(set.lines, record.C)
		set.truth = append(set.truth, record.E)
	})
	return sets
}

// TestMergerGroupsLogLines of ten systems by one configuration.
func TestMergerGroupsLogLines(t *testing.T) {
	sets := logSets(t)
	var sumGA, sumFGA float64
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		set := sets[name]
		ga, fga := score(set.truth, patterns(set.lines))
		t.Logf("%-12s GA %.3f  FGA %.3f", name, ga, fga)
		sumGA, sumFGA = sumGA+ga, sumFGA+fga
	}
	ga, fga := sumGA/float64(len(sets)), sumFGA/float64(len(sets))
	t.Logf("%-12s GA %.3f  FGA %.3f", "average", ga, fga)
	if len(sets) != 10 || ga < 0.78 || fga < 0.80 {
		t.Errorf("%d sets, GA %.3f, FGA %.3f", len(sets), ga, fga)
	}
}

// TestGroupsDoNotDependOnOrder of the lines, on how often each comes, or on chance.
func TestGroupsDoNotDependOnOrder(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 8))
	lines := inventedLines()
	for _, set := range orNone(t) {
		for i := 0; i < len(set.lines); i += 4 {
			lines = append(lines, set.lines[i])
		}
	}
	slices.Sort(lines)
	first := groups(lines)
	for shuffle := range 20 {
		chance.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		if got := groups(append(lines, lines[:len(lines)/2]...)); !slices.EqualFunc(got, first, sameGroup) {
			t.Fatalf("shuffle %d: %d groups, and %d at first, or others", shuffle, len(got), len(first))
		}
	}
}

// orNone gives the outside data, or none where it isn't: the invented lines are enough for a test then.
func orNone(t *testing.T) (sets map[string]*logSet) {
	t.Run("outside data", func(t *testing.T) { sets = logSets(t) })
	return sets
}

func sameGroup(a, b grouping.Group) bool {
	return a.Pattern == b.Pattern && slices.Equal(a.Lines, b.Lines)
}

func groups(lines []string) []grouping.Group {
	var m grouping.Merger
	for _, line := range lines {
		m.Add(line)
	}
	return m.Groups()
}

// patterns names for each line the group that it is in.
func patterns(lines []string) []string {
	of := map[string]string{}
	for _, group := range groups(lines) {
		for _, line := range group.Lines {
			of[line] = group.Lines[0]
		}
	}
	named := make([]string, len(lines))
	for i, line := range lines {
		named[i] = of[line]
	}
	return named
}

// score gives the share of lines whose group is exactly the true one, and F1 over the groups.
func score(truth, got []string) (ga, fga float64) {
	inTruth, inGot, both := map[string]int{}, map[string]int{}, map[[2]string]int{}
	for i := range truth {
		inTruth[truth[i]]++
		inGot[got[i]]++
		both[[2]string{truth[i], got[i]}]++
	}
	lines, right := 0, 0
	for pair, n := range both {
		if inTruth[pair[0]] == n && inGot[pair[1]] == n {
			lines += n
			right++
		}
	}
	return float64(lines) / float64(len(truth)), 2 * float64(right) / float64(len(inTruth)+len(inGot))
}

func inventedLines() []string {
	var lines []string
	for _, s := range samples() {
		lines = append(lines, strings.Split(s.failure.Text, "\n")...)
		lines = append(lines, s.failure.Message)
	}
	return lines
}

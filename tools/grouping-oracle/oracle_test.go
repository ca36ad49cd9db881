package groupingoracle

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/jaeyo/go-drain3/pkg/drain3"

	"salve/internal/triage/grouping"
)

// logs is outside data: lines of ten systems with the statement that each comes from.
const logs = "../../../shared/triage/loghub2k/content-template.jsonl.gz"

type set struct{ lines, truth []string }

// grouper names a group for each line.
type grouper struct {
	name  string
	group func(*testing.T, []string) []string
}

// TestBesideDrain: Salve has to be better than Drain on average over the sets, one configuration each.
func TestBesideDrain(t *testing.T) {
	groupers := []grouper{
		{"salve", merger},
		{"drain3", func(t *testing.T, lines []string) []string { return drain(t, lines, asTheyAre) }},
		{"drain3 on Salve's masks", func(t *testing.T, lines []string) []string { return drain(t, lines, grouping.Mask) }},
	}
	sets := read(t)
	averages := map[string][2]float64{}
	for _, g := range groupers {
		var sum [2]float64
		for _, name := range slices.Sorted(maps.Keys(sets)) {
			ga, fga := score(sets[name].truth, g.group(t, sets[name].lines))
			t.Logf("%-24s %-12s GA %.3f  FGA %.3f", g.name, name, ga, fga)
			sum[0], sum[1] = sum[0]+ga, sum[1]+fga
		}
		averages[g.name] = [2]float64{sum[0] / float64(len(sets)), sum[1] / float64(len(sets))}
	}
	for _, g := range groupers {
		t.Logf("%-24s %-12s GA %.3f  FGA %.3f", g.name, "average", averages[g.name][0], averages[g.name][1])
		if g.name != "salve" && (averages[g.name][0] >= averages["salve"][0] || averages[g.name][1] >= averages["salve"][1]) {
			t.Errorf("%s is as good", g.name)
		}
	}
}

func asTheyAre(line string) string { return line }

func merger(_ *testing.T, lines []string) []string {
	var m grouping.Merger
	for _, line := range lines {
		m.Add(line)
	}
	of := map[string]string{}
	for _, group := range m.Groups() {
		for _, line := range group.Lines {
			of[line] = group.Lines[0]
		}
	}
	groups := make([]string, len(lines))
	for i, line := range lines {
		groups[i] = of[line]
	}
	return groups
}

// drain is Drain with the defaults of its authors, depth 4 and similarity 0.4.
func drain(t *testing.T, lines []string, mask func(string) string) []string {
	d, err := drain3.NewDrain(drain3.WithDepth(4), drain3.WithSimTh(0.4), drain3.WithMaxCluster(10000))
	if err != nil {
		t.Fatal(err)
	}
	groups := make([]string, len(lines))
	for i, line := range lines {
		cluster, _, err := d.AddLogMessage(mask(line))
		if err != nil {
			t.Fatal(err)
		}
		groups[i] = strconv.FormatInt(cluster.ClusterId, 10)
	}
	return groups
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

func read(t *testing.T) map[string]*set {
	file, err := os.Open(logs)
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*set{}
	scanner := bufio.NewScanner(unpacked)
	for scanner.Scan() {
		var record struct{ D, C, E string }
		if err := json.Unmarshal(scanner.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		if sets[record.D] == nil {
			sets[record.D] = &set{}
		}
		sets[record.D].lines = append(sets[record.D].lines, record.C)
		sets[record.D].truth = append(sets[record.D].truth, record.E)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return sets
}

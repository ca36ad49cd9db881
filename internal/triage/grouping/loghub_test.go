package grouping

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"testing"
)

type record struct{ D, C, E string }

func loghub(t testing.TB) map[string][]record {
	f, err := os.Open("../../../../shared/triage/loghub2k/content-template.jsonl.gz")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, _ := gzip.NewReader(f)
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<20)
	out := map[string][]record{}
	for sc.Scan() {
		var r record
		json.Unmarshal(sc.Bytes(), &r)
		out[r.D] = append(out[r.D], r)
	}
	return out
}

func score(truth, got []string) (ga, fga float64) {
	tm, gm := map[string][]int{}, map[string][]int{}
	for i := range truth {
		tm[truth[i]] = append(tm[truth[i]], i)
		gm[got[i]] = append(gm[got[i]], i)
	}
	right, lines := 0, 0
	for _, m := range gm {
		tr := tm[truth[m[0]]]
		ok := len(tr) == len(m)
		for _, i := range m {
			ok = ok && truth[i] == truth[m[0]]
		}
		if ok {
			right++
			lines += len(m)
		}
	}
	p, r := float64(right)/float64(len(gm)), float64(right)/float64(len(tm))
	return float64(lines) / float64(len(truth)), 2 * p * r / (p + r)
}

func TestLoghub(t *testing.T) {
	all := loghub(t)
	var names []string
	for d := range all {
		names = append(names, d)
	}
	sort.Strings(names)
	var sg, sf float64
	for _, d := range names {
		var m Merger
		var truth, got []string
		for _, r := range all[d] {
			m.Add(r.C)
		}
		of := map[string]string{}
		gs := m.Groups()
		for i, g := range gs {
			for _, l := range g.Lines {
				of[l] = fmt.Sprint(i, " ", g.Pattern)
			}
		}
		for _, r := range all[d] {
			truth = append(truth, r.E)
			got = append(got, of[r.C])
		}
		ga, fga := score(truth, got)
		sg += ga
		sf += fga
		fmt.Printf("%-12s GA %.3f FGA %.3f groups %d\n", d, ga, fga, len(gs))
		if os.Getenv("SET") == d {
			wrong(truth, got)
		}
	}
	fmt.Printf("average GA %.3f FGA %.3f\n", sg/float64(len(names)), sf/float64(len(names)))
}

func wrong(truth, got []string) {
	tm, gm := map[string]map[string]int{}, map[string]map[string]int{}
	for i := range truth {
		if tm[truth[i]] == nil {
			tm[truth[i]] = map[string]int{}
		}
		if gm[got[i]] == nil {
			gm[got[i]] = map[string]int{}
		}
		tm[truth[i]][got[i]]++
		gm[got[i]][truth[i]]++
	}
	for _, kind := range []struct {
		n string
		m map[string]map[string]int
	}{{"SPLIT", tm}, {"LUMP", gm}} {
		var ks []string
		for k, v := range kind.m {
			if len(v) > 1 {
				ks = append(ks, k)
			}
		}
		sort.Strings(ks)
		for _, k := range ks {
			fmt.Println(kind.n, k)
			i := 0
			for v, n := range kind.m[k] {
				if i++; i > 6 {
					break
				}
				fmt.Println("      ", n, v)
			}
		}
	}
}

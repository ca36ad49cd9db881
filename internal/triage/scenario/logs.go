package scenario

import (
	"fmt"
	"path/filepath"
	"strings"

	"salve/internal/triage/results"
)

// takeLogs gives plain logs to the scenarios that their paths name. Where there is nothing but logs, each is a scenario
// of its own.
func (c *Collector) takeLogs(run *Run) {
	if len(c.rows) == 0 {
		for _, one := range c.logs {
			c.add(one)
		}
		if len(c.logs) > 0 {
			run.Notes = append(run.Notes, "nothing but plain logs: each counts as a scenario that failed")
		}
		return
	}
	named := map[string]int{} // by folded name; -1 if several have it
	for i := range c.rows {
		name := fold(c.rows[i].Name)
		if _, taken := named[name]; taken {
			named[name] = -1
			continue
		}
		named[name] = i
	}
	loose := 0
	for _, one := range c.logs {
		if one.Observation == nil {
			continue
		}
		seen := Observed{one.Observation, one.Origin.File, true}
		if at := owner(named, one.Origin.File); at >= 0 {
			c.rows[at].Observations = append(c.rows[at].Observations, seen)
			continue
		}
		loose++
		run.Loose = append(run.Loose, seen)
	}
	if loose > 0 {
		belong := fmt.Sprintf("%d logs belong", loose)
		if loose == 1 {
			belong = "1 log belongs"
		}
		run.Notes = append(run.Notes, belong+" to no scenario by the path")
	}
}

// owner is the scenario whose name the path has as a folder, as folders one below the other, or as the file's name.
func owner(named map[string]int, path string) int {
	parts := strings.Split(filepath.ToSlash(path), "/")
	last := len(parts) - 1
	parts[last] = strings.TrimSuffix(parts[last], filepath.Ext(parts[last]))
	for length := len(parts); length > 0; length-- { // the longest name first
		for from := len(parts) - length; from >= 0; from-- {
			if at, known := named[fold(strings.Join(parts[from:from+length], "/"))]; known {
				return at
			}
		}
	}
	return -1
}

// fold makes a name comparable with a path that was made of it: what files can't be called is replaced in many ways.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r > 0x7f:
			return r
		}
		return '_'
	}, name)
}

// dropParents takes out the sums of other scenarios: their failure is counted where it is, unless none of those below
// failed.
func (c *Collector) dropParents() {
	failed := map[identity]bool{} // of a parent's scenarios
	for i := range c.rows {
		r := &c.rows[i]
		if r.gone {
			continue
		}
		for _, name := range parents(r.identity.name) {
			id := r.identity
			id.name = name
			failed[id] = failed[id] || r.Failing() || r.Failed > 0
		}
	}
	for i := range c.rows {
		r := &c.rows[i]
		below, parent := failed[r.identity]
		if parent && (below || !r.Failing()) {
			r.gone = true
		}
	}
}

// dropRepeated takes out files that tell of the same scenarios as another one, which ends alike for nearly all: CI
// systems keep the events of go test and the JUnit file that was made of them.
func (c *Collector) dropRepeated(run *Run) {
	files := map[string][]int{}
	var order []string
	for i := range c.rows {
		file := c.rows[i].Origin.File
		if files[file] == nil {
			order = append(order, file)
		}
		files[file] = append(files[file], i)
	}
	const compared = 64 // files; more are many shards, not copies
	if len(order) > compared {
		return
	}
	for i, original := range order {
		for _, copied := range order[i+1:] {
			if filepath.Ext(original) != filepath.Ext(copied) && !c.rows[files[copied][0]].gone &&
				!c.rows[files[original][0]].gone && c.repeats(files[original], files[copied]) {
				for _, at := range files[copied] {
					c.rows[at].gone = true
				}
				run.Notes = append(run.Notes, fmt.Sprintf("%s repeats %s: counted once", copied, original))
			}
		}
	}
}

// repeats says whether nearly all scenarios of both files have the same names and outcomes.
func (c *Collector) repeats(original, copied []int) bool {
	const nearly = 0.95
	outcomes := map[string]results.Outcome{}
	for _, at := range original {
		outcomes[c.rows[at].Name] = c.rows[at].Outcome
	}
	same := 0
	for _, at := range copied {
		outcome, known := outcomes[c.rows[at].Name]
		if known && outcome.Failed() == c.rows[at].Failing() {
			same++
		}
	}
	most := max(len(original), len(copied))
	return float64(same) >= nearly*float64(most)
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// survey is the packages under test, and what became of their mutants.
type survey struct {
	benches    []*bench
	equivalent map[string]bool
	verdicts   map[string]string // by a site's key
}

// row is a line of the list of equivalent mutants: | file | function | `deleted` | reason |
var row = regexp.MustCompile("(?m)^\\| *(\\S+\\.go) *\\| *(\\S+) *\\| *`(.+)` *\\| *(\\S.*?) *\\|$")

func (s *survey) read(table, list, since string, only []string) error {
	rows, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	changed := []byte{}
	if since != "" {
		if changed, err = exec.Command("git", "diff", "--name-only", since).Output(); err != nil {
			return fmt.Errorf("git diff %s: %w", since, err)
		}
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(rows)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		dir, files, _ := strings.Cut(words[0], ":")
		b := &bench{dir: dir, files: regexp.MustCompile(files), dropped: map[string]bool{}}
		for _, word := range append([]string{dir}, words[1:]...) {
			tested, tests, _ := strings.Cut(word, ":")
			b.suites = append(b.suites, &suite{dir: tested, tests: tests})
		}
		if b.sites, _, err = instrument(dir, b.files, nil); err != nil || len(b.sites) == 0 {
			return fmt.Errorf("%s: nothing to delete: %w", words[0], err)
		}
		for _, m := range b.sites {
			known[m.key()] = true
		}
		touched := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(dir) + `/[^/]*$`).Match(changed)
		if (since == "" || touched) && (len(only) == 0 || slices.Contains(only, dir)) {
			s.benches = append(s.benches, b)
		}
	}
	raw, err := os.ReadFile(list)
	for _, cells := range row.FindAllStringSubmatch(string(raw), -1) {
		key := strings.ReplaceAll(strings.Join(cells[1:4], " | "), `\|`, "|")
		if s.equivalent[key] = true; !known[key] {
			return fmt.Errorf("%s: stale entry, nothing of this kind is in the code: %s", list, key)
		}
	}
	return err
}

// tryAll takes the packages in turn and each one's mutants by chance, so that a budget that ends early
// has seen a fair sample of all.
func (s *survey) tryAll(ctx context.Context, seed uint64, sample, parallel int) error {
	type job struct {
		at int
		b  *bench
		of string // the site's key
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var jobs []job
	for i, b := range s.benches {
		b.scratch = filepath.Join(scratch, fmt.Sprint(i))
		b.ready = sync.OnceValue(func() error { return b.prepare(ctx) })
		for at, n := range rand.New(rand.NewPCG(seed, uint64(i))).Perm(len(b.sites)) {
			if m := b.sites[n]; !s.equivalent[m.key()] {
				jobs = append(jobs, job{at, b, m.key()})
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return a.at - b.at })
	if sample > 0 {
		jobs = jobs[:min(sample, len(jobs))]
	}
	queue, lock, workers := make(chan job), sync.Mutex{}, sync.WaitGroup{}
	var failed error
	for range parallel {
		workers.Go(func() {
			for j := range queue {
				verdict, err := j.b.try(ctx, j.of)
				lock.Lock()
				if failed = cmp.Or(failed, err); ctx.Err() == nil {
					s.verdicts[j.of] = verdict
				}
				lock.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() == nil {
			queue <- j
		}
	}
	close(queue)
	if workers.Wait(); ctx.Err() != nil {
		return nil // the budget is spent
	}
	return failed
}

// print gives the share of killed mutants in percent, a line for each that lives, and one for each package.
func (s *survey) print(out io.Writer) float64 {
	tried, killed := 0, 0
	for _, b := range s.benches {
		count := map[string]int{}
		for _, m := range b.sites {
			verdict := s.verdicts[m.key()]
			if s.equivalent[m.key()] {
				verdict = "equivalent"
			}
			if count[verdict]++; verdict == "survived" || verdict == "not reached" {
				fmt.Fprintf(out, "%s:%d: %s: %s: `%s`\n", m.file, m.line, verdict, m.function, m.deleted)
			}
		}
		dead, lives := count["killed"]+count["timed out"], count["survived"]+count["not reached"]
		tried, killed = tried+dead+lives, killed+dead
		fmt.Fprintf(out, "score %s %.1f%% %d of %d killed, %d of them timed out, %d not tried, %d equivalent\n",
			b.dir, 100*float64(dead)/float64(max(1, dead+lives)), dead, dead+lives, count["timed out"], count[""], count["equivalent"])
	}
	score := 100 * float64(killed) / float64(max(1, tried))
	fmt.Fprintf(out, "score all %.1f%% %d of %d killed\n", score, killed, tried)
	return score
}

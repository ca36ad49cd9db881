// Mutants deletes one thing at a time from packages (a call whose result is unused or only an error, an
// element of a list, an early return, a deferred call) and tells which of these mutants no test dies for.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	table = "tools/mutants/packages.txt"
	list  = "docs/mutants.md"
	// telling is how many mutants have to be tried for a score to say something.
	telling = 40
)

func main() {
	since := flag.String("changed-since", "", "only packages that changed since this `revision`")
	seed := flag.Uint64("seed", 1, "orders the mutants, where not all of them are tried")
	sample := flag.Int("sample", 1<<30, "how many mutants are tried at most")
	budget := flag.Duration("budget", 24*time.Hour, "how long mutants are tried")
	parallel := flag.Int("parallel", runtime.NumCPU(), "how many mutants are tried at once")
	least := flag.Float64("min", 90, "the `percentage` to be killed; below it the exit code is 1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *budget)
	defer cancel()
	all, err := read(*since, flag.Args())
	if err == nil {
		err = tryAll(ctx, all, *seed, *sample, *parallel)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if score, tried := report(os.Stdout, all); score < *least && tried >= telling {
		os.Exit(1)
	}
}

// row is a line of the list of equivalent mutants: | file | function | `deleted` | reason |
var row = regexp.MustCompile("(?m)^\\| *(\\S+\\.go) *\\| *(\\S+) *\\| *`(.+)` *\\| *(\\S.*?) *\\|$")

// read gives the packages of the table that are asked for and that changed since a revision.
func read(since string, only []string) (asked []*bench, err error) {
	rows, err := os.ReadFile(table)
	known := map[string]*mutant{}
	for line := range strings.Lines(string(rows)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		dir, files, _ := strings.Cut(words[0], ":")
		b := &bench{dir: dir, texts: map[string]string{}, seen: map[string]int{}}
		if err := b.instrument(regexp.MustCompile(files)); err != nil || len(b.mutants) == 0 {
			return nil, fmt.Errorf("%s: nothing to delete: %w", words[0], err)
		}
		for _, tests := range append([]string{dir}, words[1:]...) {
			b.suites = append(b.suites, &suite{dir: tests})
		}
		for _, m := range b.mutants {
			known[m.key()] = m
		}
		if len(only) > 0 && !slices.Contains(only, dir) {
			continue
		}
		if since == "" || exec.Command("git", "diff", "--quiet", since, "--", ":(glob)"+dir+"/*").Run() != nil {
			asked = append(asked, b)
		}
	}
	equivalent, listErr := os.ReadFile(list)
	var stale []error
	for _, cells := range row.FindAllStringSubmatch(string(equivalent), -1) {
		key := strings.ReplaceAll(strings.Join(cells[1:4], " | "), `\|`, "|")
		if known[key] == nil {
			stale = append(stale, fmt.Errorf("%s: stale entry, nothing of this kind is in the code: %s", list, key))
			continue
		}
		known[key].verdict = "equivalent"
	}
	if err := errors.Join(stale...); err != nil {
		return nil, err
	}
	return asked, cmp.Or(err, listErr)
}

// tryAll takes mutants by chance, so that a budget that ends early has seen a fair sample.
func tryAll(ctx context.Context, all []*bench, seed uint64, sample, parallel int) error {
	var jobs []func()
	for _, b := range all {
		b.ready = sync.OnceFunc(func() { b.failed = b.compile(ctx) })
		defer func() { _ = os.RemoveAll(b.scratch) }()
		for _, m := range b.mutants {
			if m.verdict == "" {
				jobs = append(jobs, func() { b.try(ctx, m) })
			}
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	workers, places := sync.WaitGroup{}, make(chan struct{}, parallel)
	for _, try := range jobs[:min(sample, len(jobs))] {
		places <- struct{}{}
		workers.Go(func() { try(); <-places })
	}
	workers.Wait()
	for _, b := range all {
		if b.failed != nil && ctx.Err() == nil { // else the budget is spent
			return b.failed
		}
	}
	return nil
}

// report gives the share of killed mutants in percent and how many were tried, a line for each that lives, and one for each package.
func report(out io.Writer, all []*bench) (score float64, tried int) {
	killed := 0
	for _, b := range all {
		count := map[string]int{}
		for _, m := range b.mutants {
			if count[m.verdict]++; m.verdict == "survived" || m.verdict == "not reached" {
				fmt.Fprintf(out, "%s:%d: %s: %s: `%s`\n", m.file, m.line, m.verdict, m.function, m.deleted)
			}
		}
		dead, of := count["killed"], count["killed"]+count["survived"]+count["not reached"]
		tried, killed = tried+of, killed+dead
		fmt.Fprintf(out, "score %s %.1f%% %d of %d killed, %d not tried, %d equivalent\n", b.dir, percent(dead, of), dead, of,
			count[""], count["equivalent"])
	}
	fmt.Fprintf(out, "score all %.1f%% %d of %d killed\n", percent(killed, tried), killed, tried)
	return percent(killed, tried), tried
}

func percent(some, of int) float64 { return 100 * float64(some) / float64(max(1, of)) }

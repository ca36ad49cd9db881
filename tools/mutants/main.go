// Mutants deletes one thing at a time from packages (a call whose result is unused or only an error, an
// element of a list, an early return, a deferred call) and tells which of these mutants no test dies for.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	table := flag.String("packages", "tools/mutants/packages.txt", "the packages, and what tests them")
	list := flag.String("equivalent", "docs/mutants.md", "the list of equivalent mutants")
	since := flag.String("changed-since", "", "only packages that changed since this `revision`")
	seed := flag.Uint64("seed", 1, "orders the mutants, where not all of them are tried")
	sample := flag.Int("sample", 0, "how many mutants are tried; 0 means all")
	budget := flag.Duration("budget", 24*time.Hour, "how long mutants are tried")
	parallel := flag.Int("parallel", 2, "how many mutants are tried at once")
	least := flag.Float64("min", 90, "the `percentage` to be killed; below it the exit code is 1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *budget)
	defer cancel()
	all := &survey{equivalent: map[string]bool{}, verdicts: map[string]string{}}
	err := all.read(*table, *list, *since, flag.Args())
	if err == nil {
		err = all.tryAll(ctx, *seed, *sample, *parallel)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if all.print(os.Stdout) < *least {
		os.Exit(1)
	}
}

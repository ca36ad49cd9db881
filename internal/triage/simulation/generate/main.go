package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"salve/internal/triage/simulation"
)

func main() {
	seed := flag.Uint64("seed", 1, "of what is random")
	kind := flag.String("kind", string(simulation.Outage), "what happened")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: generate [-seed N] [-kind KIND] FOLDER")
		os.Exit(2)
	}
	world, err := simulation.Generate(flag.Arg(0), *seed, simulation.Kind(*kind))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	arguments := world.Results
	add := func(name, value string) {
		if value != "" {
			arguments = append(arguments, name, value)
		}
	}
	add("--diff", world.Diff)
	add("--map", world.Map)
	add("--catalogue", world.Catalogue)
	for _, path := range world.Baseline {
		add("--baseline", path)
	}
	if !world.ChangedAt.IsZero() {
		add("--changed-at", world.ChangedAt.UTC().Format(time.RFC3339))
	}
	fmt.Println(strings.Join(arguments, " "))
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "day:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("day", flag.ContinueOnError)
	o := options{}
	flags.StringVar(&o.salve, "salve", "bin/salve", "the `program` salve")
	flags.IntVar(&o.running, "running", 300, "how many jobs run when the bad release comes")
	flags.IntVar(&o.started, "started", 115, "how many jobs are started before the rollback")
	flags.StringVar(&o.draft, "draft", "", "write the draft of the post-mortem into this `file`, and don't print it")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if o.running < 1 || o.started < 3 {
		return fmt.Errorf("-running %d -started %d: at least 1 and 3 jobs are needed", o.running, o.started)
	}
	d, err := open(ctx, o, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.play(ctx)
}

package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/clock"
	"salve/internal/console"
	"salve/journal"
)

// retention is how long the journal keeps closed runs by itself; zero keeps all.
type retention struct{ age time.Duration }

// retentionVariable is its variable of the environment.
const retentionVariable = "SALVE_RETENTION"

func (r *retention) addFlag(flags *pflag.FlagSet) {
	flags.DurationVar(&r.age, "retention", journal.DefaultAge, "at the end, delete closed runs that ended longer ago, "+
		"but for the newest 100; 0 keeps all ("+retentionVariable+")")
}

// read takes flag and environment together.
func (r *retention) read(a *app, flags *pflag.FlagSet) error {
	if text := a.lookup(retentionVariable); text != "" {
		age, err := time.ParseDuration(text)
		if err != nil || age < 0 {
			return usage("invalid %s=%q: it must be a duration such as 2160h, or 0", retentionVariable, text)
		}
		if !flags.Changed("retention") {
			r.age = age
		}
	}
	if r.age < 0 {
		return usage("invalid --retention %s: it must be 0 or more", r.age)
	}
	return nil
}

// expiring is how long the end of a run waits for what is deleted.
const expiring = 10 * time.Second

// expire deletes old closed runs at the end of a run. That it can't is no failure of the
// run: many a runner has no right to delete records.
func (a *app) expire(ctx context.Context, r retention, kept *journal.Location, clk clock.Clock, run string) {
	if r.age == 0 || run == "" || context.Cause(ctx) != nil {
		return
	}
	limited, cancel := clock.WithTimeout(ctx, clk, expiring)
	defer cancel()
	expired, err := journal.Expire(limited, kept, clk.Now(), r.age, run)
	line := slog.New(console.NewHandler(a.stderr, a.verbosity)).
		With(slog.String("component", "journal"), slog.String("run", run))
	if err != nil {
		line = line.With(slog.String("error", err.Error()))
	}
	line.LogAttrs(ctx, slog.LevelDebug, "old runs deleted", slog.Int("runs", len(expired)))
}

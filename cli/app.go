package cli

import (
	"io"
	"os"
	"os/user"
	"time"

	"golang.org/x/term"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbooks/recreatepool"
)

// app is what a process gives to its commands.
type app struct {
	stdout, stderr io.Writer
	arguments      []string
	environment    []string
	lookup         func(name string) string
	// connect reaches the world that inputs name.
	connect func(cloudFlags, recreatepool.Inputs) (recreatepool.World, error)
	// program is what the command line was made for.
	program Options
	// replace continues as another program.
	replace func(path string, arguments, environment []string) error
	// newRun names runs; nil leaves it to the engine.
	newRun func(time.Time) string

	output    string
	verbosity int
	// observation is who is told of the runs of this process.
	observation observation
	// understood: the command line was understood as far as the command and its flags.
	understood bool
	// began: a run may have changed something.
	began bool
	// answered: the JSON document has been printed.
	answered bool
	exit     int
}

func newApp() *app {
	return &app{
		stdout: os.Stdout, stderr: os.Stderr, arguments: os.Args[1:],
		environment: os.Environ(), lookup: os.Getenv, connect: connect, replace: replaceProcess,
	}
}

// engine is one that runs what was asked for, on a journal; its record says who, with which program and which command.
func (a *app) engine(kept journal.Store, clk clock.Clock, watch func(engine.Event)) *engine.Engine {
	return &engine.Engine{
		Journal: kept, Clock: clk, Holder: a.holder(), Watch: a.observation.watch(watch), NewRun: a.newRun,
		Appended: a.observation.appended(), Program: builtFrom().String(), Command: a.command(),
	}
}

// command is what was typed.
func (a *app) command() string { return shell(append([]string{a.name()}, a.arguments...)) }

// width is how many columns the answer may take; 0 where it isn't a terminal.
func (a *app) width() int {
	if file := terminal(a.stdout); file != nil {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// drawable tells whether standard error is a terminal to draw on.
func (a *app) drawable() bool {
	return terminal(a.stderr) != nil && a.lookup("TERM") != "dumb"
}

// name is the program's.
func (a *app) name() string {
	if a.program.Name == "" {
		return "salve"
	}
	return a.program.Name
}

func (a *app) json() bool { return a.output == "json" }

// holder says who is at work, for leases and records.
func (a *app) holder() journal.Holder {
	holder := journal.Holder{User: a.lookup("USER"), PID: os.Getpid()}
	if person, err := user.Current(); err == nil {
		holder.User = person.Username
	}
	holder.Host, _ = os.Hostname() // a nameless host is written as it is
	return holder
}

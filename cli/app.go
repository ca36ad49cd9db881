package cli

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"time"

	"golang.org/x/term"

	"salve/engine"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// app is what a process gives to its commands.
type app struct {
	stdout, stderr io.Writer
	stdin          io.Reader
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

	// needs is the role that the command needs in a cluster.
	needs kube.Need
	// journal are the flags by which the command finds its journal; nil before they are read.
	journal *journalFlags
	// route are the flags that lead to the world of what is run.
	route []string
	// watch shows what is waited for; nil writes it to standard error.
	watch *watch

	// detailedExit has check and plan tell by the exit code whether a run would act, as terraform plan does.
	detailedExit bool

	// plain and noColour are the flags of these names.
	plain, noColour bool

	// presets are the places in the configuration file of the flags that it gave.
	presets map[string]string

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
		stdout: os.Stdout, stderr: os.Stderr, stdin: os.Stdin, arguments: os.Args[1:],
		environment: os.Environ(), lookup: os.Getenv, connect: connect, replace: replaceProcess,
	}
}

// engine is one that runs what was asked for, on a journal; its record says who, with which program and which command.
func (a *app) engine(kept journal.Store, clk clock.Clock, watch func(engine.Event)) *engine.Engine {
	return &engine.Engine{
		Journal: kept, Clock: clk, Holder: a.holder(), Watch: a.observation.watch(watch), NewRun: a.newRun,
		Appended: a.observation.appended(), Program: builtFrom().String(), Command: a.command(),
		Route: a.route,
	}
}

// command is what was typed.
func (a *app) command() string { return shell(append([]string{a.name()}, a.arguments...)) }

// width is how many columns the answer may take; 0 where it isn't a terminal.
func (a *app) width() int { return widthOf(a.stdout) }

// widthOf is how many columns a terminal has; 0 where it is none.
func widthOf(out io.Writer) int {
	if file := terminal(out); file != nil {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// name is the program's.
func (a *app) name() string {
	if a.program.Name == "" {
		return "salve"
	}
	return a.program.Name
}

// waits tells of a read that is tried again.
func (a *app) waits(notice backoff.Notice) {
	if notice.Text != "" && a.watch != nil {
		a.watch.wait(notice.Text, waitEvery)
		return
	}
	text := notice.Text
	if text == "" {
		text = fmt.Sprintf("Waiting, %s so far; asked again in %s: %s", notice.Waited.Round(time.Second),
			max(notice.Pause.Round(time.Second), time.Second), a.worded(notice.Err))
	}
	if a.watch != nil {
		a.watch.say(text)
		return
	}
	fmt.Fprintln(a.stderr, text)
}

// holder says who is at work, for leases and records.
func (a *app) holder() journal.Holder {
	holder := journal.Holder{User: a.lookup("USER"), PID: os.Getpid()}
	if person, err := user.Current(); err == nil {
		holder.User = person.Username
	}
	holder.Host, _ = os.Hostname() // a nameless host is written as it is
	return holder
}

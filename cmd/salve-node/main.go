//go:build linux

// How many processors a control group allows need not be read: it is one thing after the other here, see main.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"salve/internal/clock"
)

// The exit codes of salve-node itself. Those of launch are the program's.
const (
	exitDone   = 0
	exitFailed = 1 // confirm, rollback and status; fetch and check with --strict
	exitUsage  = 2 // confirm, rollback, status and version; commands that there aren't
)

func main() {
	// One thing is done after the other here. To hand work over to more processors costs a
	// boot a millisecond or two, and saves nothing.
	runtime.GOMAXPROCS(1)
	os.Exit(run(clock.Real{}))
}

func run(clk clock.Clock) (code int) {
	outliveReaders()
	said := newLog(os.Stderr)
	defer said.flush()
	return execute(process{
		arguments: os.Args[1:], lookup: os.LookupEnv, stdout: os.Stdout, stderr: said, flush: said.flush, clock: clk,
	})
}

// outliveReaders makes writing to a pipe that nobody reads an error like any other:
// a log that has gone away must not end a boot. The signal is taken and not
// ignored, because the program that is launched would inherit the latter.
func outliveReaders() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// process is what the operating system gives to a command.
type process struct {
	arguments      []string
	lookup         func(name string) (string, bool)
	stdout, stderr io.Writer
	flush          func() // waits for what was written to stderr
	clock          clock.Clock
}

func (p process) flushed() {
	if p.flush != nil {
		p.flush()
	}
}

// command is one of salve-node's.
type command struct {
	name, does string
	run        func(*node) int
	// instead is what remains to be done after a panic. A command that has it fails
	// open: it never answers wrong usage with an error, either. What it doesn't
	// understand it says, and leaves out.
	instead func(*node) int
}

func (c command) failsOpen() bool { return c.instead != nil }

func commands() []command {
	return []command{
		{"decide", "print whether this node takes a hotfix, and why", (*node).runDecide, (*node).doNothing},
		{"check", "read the pointer afresh from the live service", (*node).runCheck, (*node).doNothing},
		{"fetch", "fetch and stage what the pointer names for this node", (*node).runFetch, (*node).doNothing},
		{"select", "print the path of the program to run", (*node).runSelect, (*node).printBaked},
		{"launch", "check, fetch, select and run: launch [flags] -- ARGS…", (*node).runLaunch, (*node).launchBaked},
		{"prepare", "what launch does before it runs a program, in a process of its own", (*node).runPrepare,
			(*node).doNothing},
		{"confirm", "say that the hotfix that is running does what it has to", (*node).runConfirm, nil},
		{"rollback", "put back the files that the last scripts replaced", (*node).runRollback, nil},
		{"status", "show what salve-node did last", (*node).runStatus, nil},
		{"version", "print which program this is", (*node).runVersion, nil},
	}
}

// execute runs the command that the arguments name and gives the exit code.
func execute(p process) int {
	if len(p.arguments) == 0 {
		p.help(p.stderr)
		return exitUsage
	}
	name := p.arguments[0]
	if name == "help" || name == "--help" || name == "-h" {
		p.help(p.stdout)
		return exitDone
	}
	for _, one := range commands() {
		if one.name == name {
			return p.start(one)
		}
	}
	fmt.Fprintf(p.stderr, "salve-node: there is no command %.60q; salve-node help lists them\n", name)
	return exitUsage
}

func (p process) start(chosen command) int {
	n := &node{process: p}
	flags := n.settings.flags()
	if chosen.failsOpen() {
		return n.openly(chosen, flags)
	}
	flags.Usage = func() {}
	switch err := flags.Parse(p.arguments[1:]); {
	case errors.Is(err, pflag.ErrHelp):
		p.help(p.stdout)
		return exitDone
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("there is no %.60q here", flags.Arg(0))
		fallthrough
	case err != nil:
		fmt.Fprintf(p.stderr, "salve-node %s: %v; salve-node help lists the flags\n", chosen.name, err)
		return exitUsage
	}
	n.warn(fromEnvironment(flags, p.lookup)...)
	return chosen.run(n)
}

func (p process) help(to io.Writer) {
	var text strings.Builder
	text.WriteString("salve-node runs a hotfix of the node program when there is one, and the baked program in " +
		"any other case.\n\nCommands:\n")
	for _, one := range commands() {
		fmt.Fprintf(&text, "  %-9s %s\n", one.name, one.does)
	}
	text.WriteString("\nFlags, and for each an environment variable (--api-server is SALVE_NODE_API_SERVER):\n")
	text.WriteString((&settings{}).flags().FlagUsages())
	text.WriteString("\nThe contract is in docs/node-hotfix.md.\n")
	fmt.Fprint(to, text.String())
}

package cli

import (
	"io"

	"salve/internal/console"
)

// progress is how a command shows what happens in a run.
type progress int

const (
	// drawn: in place, on a terminal.
	drawn progress = iota
	// told: line by line.
	told
	// logged: as JSON lines.
	logged
)

// progress follows from what was asked for, and from where the output goes: whoever asked for a document has a program
// read the log too, unless a user sits in front of it.
func (a *app) progress() progress {
	shown := terminal(a.stderr) != nil
	switch {
	case a.verbosity > 0:
		return logged
	case a.plain:
		return told
	case a.json() && !shown:
		return logged
	case !shown || terminal(a.stdout) == nil || a.lookup("TERM") == "dumb":
		return told
	}
	return drawn
}

// style is what the terminal can show and the user wants to see.
func (a *app) style() console.Style {
	style := console.StyleOf(a.lookup)
	style.Colour = style.Colour && !a.plain && !a.noColour
	return style
}

// restyle has what is printed follow the flags.
func (a *app) restyle() {
	for _, out := range []io.Writer{a.stdout, a.stderr} {
		if between, is := out.(*stream); is && terminal(out) != nil {
			between.style = a.style()
		}
	}
}

// lines is where progress is told line by line. Of a terminal each line is ours, and made safe; what a host obeys is
// written as it is.
func (a *app) lines() io.Writer {
	if between, is := a.stderr.(*stream); is && a.grouping() != console.NoHost {
		return obeyed{between}
	}
	return a.stderr
}

// grouping is the host that is given commands: none where the answer is a document, which a program may read together
// with the log.
func (a *app) grouping() console.Host {
	if a.json() || terminal(a.stderr) != nil {
		return console.NoHost
	}
	return a.host()
}

// hold keeps what others write while a view has the terminal.
func (a *app) hold() { a.both((*stream).hold) }

func (a *app) release() { a.both((*stream).release) }

func (a *app) both(do func(*stream)) {
	for _, out := range []io.Writer{a.stdout, a.stderr} {
		if between, is := out.(*stream); is {
			do(between)
		}
	}
}

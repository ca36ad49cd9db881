package results

import "strings"

// Observer sees the texts of cases whole, before they are shortened. It is asked by one goroutine.
type Observer interface {
	// Observe is what will see the texts of one case of a file.
	Observe(file string) Observation
}

// Observation sees the texts of one case: its failures and outputs one after the other, or the whole of a plain log.
// Cases that run at the same time have one each, and are told in turns.
type Observation interface {
	// Text is the next bytes of the case, as the file has them, and the line of the file on which they begin. A line may
	// come in several pieces. The bytes are the reader's again afterwards.
	Text(line int, text []byte)
	// Break says that what follows is another text: no line goes on over it.
	Break()
	// End says that nothing follows. It comes once, before the case is given; a case that isn't given ends as well.
	End()
}

// observed tells an observer of one case, if there is one, from its first byte on.
type observed struct {
	observer Observer
	file     string
	to       Observation
	ended    bool
}

func (f *file) observed() observed { return observed{observer: f.observer, file: f.path} }

func (o *observed) text(line int, text []byte) {
	if o.observer == nil || o.ended || len(text) == 0 {
		return
	}
	if o.to == nil {
		o.to = o.observer.Observe(o.file)
	}
	o.to.Text(line, text)
}

// string is a text that stands on one line of the file, however many it has itself.
func (o *observed) string(line int, text string) {
	if o.observer == nil {
		return
	}
	for inner := range strings.Lines(text) {
		o.text(line, []byte(inner))
	}
}

func (o *observed) separate() {
	if o.to != nil && !o.ended {
		o.to.Break()
	}
}

// end gives what a case carries: nil if there was no text.
func (o *observed) end() Observation {
	if o.to != nil && !o.ended {
		o.to.End()
	}
	o.ended = true
	return o.to
}

// message is the texts of a failure's tag: what most writers say first.
func (o *observed) message(t token) {
	for _, name := range []string{"type", "message"} {
		o.separate()
		o.string(t.line, t.attrs[name])
	}
	o.separate()
}

package catalogue

import (
	"bytes"
	"slices"
	"sort"

	"salve/internal/triage/literal"
	"salve/internal/triage/results"
)

const (
	chunk     = literal.MaxLine // bytes that are looked through at a time
	smallest  = 4 << 10         // what an observation holds before it takes a whole buffer
	maxHeld   = 32 << 20        // bytes that all open observations of a run hold back
	maxHeldBy = 512             // bytes that one holds back when they hold too much
	maxSpare  = 64              // buffers that wait for the next observation
)

// Observer sees the texts of one run. It is for one goroutine, as results.Reader is.
type Observer struct {
	catalogue *Catalogue
	held      int
	limit     int // of held
	spare     [][]byte
	file      string // the last one, with its kinds
	kinds     []string
	producer  string
}

// Observer is a new one, for a results.Reader.
func (c *Catalogue) Observer() *Observer { return &Observer{catalogue: c, limit: maxHeld} }

// Observe begins the texts of one case.
func (o *Observer) Observe(file string) results.Observation { return o.observe(file) }

func (o *Observer) observe(file string) *Observation {
	if o.file != file || o.producer == "" {
		o.file = file
		o.kinds, o.producer = o.catalogue.kindsOf(file)
	}
	return &Observation{observer: o, found: Found{File: file, Kinds: o.kinds, Producer: o.producer}}
}

// Observation is of the texts of one case. It holds back lines until there are enough of them to be worth a look, and
// the beginning of a line until its end comes; a line of more than 64 KiB is looked at in parts.
type Observation struct {
	observer *Observer
	buffer   []byte
	rows     int    // line ends in the buffer
	next     int    // line of the file that would go on where the buffer ends
	marks    []mark // from where in the buffer on which lines of the file are
	number   int    // of the line that is looked at, of all of this observation
	tries    []int  // by attribute pattern, when one was tried
	found    Found
}

// mark says that the byte of the buffer is on a line of the file.
type mark struct{ at, row, line int }

// Text is the next bytes, which begin on a line of the file.
func (o *Observation) Text(line int, text []byte) {
	for len(text) > 0 {
		piece := text[:min(len(text), chunk)]
		text = text[len(piece):]
		rows := bytes.Count(piece, []byte{'\n'})
		if len(o.buffer) == 0 || line != o.next {
			o.marks = append(o.marks, mark{len(o.buffer), o.rows, line})
		}
		o.append(piece)
		o.rows += rows
		line += rows
		o.next = line
		switch {
		case len(o.buffer) >= chunk:
			o.look(chunk)
		case o.observer.held > o.observer.limit:
			o.look(maxHeldBy)
		}
	}
}

// Break ends a line that has no end of its own.
func (o *Observation) Break() {
	if n := len(o.buffer); n > 0 && o.buffer[n-1] != '\n' {
		o.append([]byte{'\n'})
		o.rows++
		o.next++
	}
}

// End looks through what is left.
func (o *Observation) End() {
	if len(o.buffer) > 0 {
		o.scan(len(o.buffer))
	}
	o.release()
	o.marks, o.tries = nil, nil
	o.found.end()
}

// append takes a buffer for large texts from those that are spare.
func (o *Observation) append(piece []byte) {
	before := cap(o.buffer)
	need := len(o.buffer) + len(piece)
	if need > smallest && before < 2*chunk {
		large := o.observer.take()
		large = append(large, o.buffer...)
		o.buffer = large
	}
	o.buffer = append(o.buffer, piece...)
	o.observer.held += cap(o.buffer) - before
}

func (o *Observer) take() []byte {
	if n := len(o.spare); n > 0 {
		buffer := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return buffer[:0]
	}
	return make([]byte, 0, 2*chunk+1)
}

// release gives the buffer back.
func (o *Observation) release() {
	o.observer.held -= cap(o.buffer)
	if cap(o.buffer) > smallest*2 && len(o.observer.spare) < maxSpare {
		o.observer.spare = append(o.observer.spare, o.buffer)
	}
	o.buffer, o.rows = nil, 0
}

// look scans whole lines, and keeps the beginning of the next one, or the end of one that is longer than may be kept.
func (o *Observation) look(keep int) {
	end := bytes.LastIndexByte(o.buffer, '\n') + 1
	rest := o.buffer[end:]
	if len(rest) > keep {
		end = len(o.buffer)
		rest = o.buffer[end-min(end, o.observer.catalogue.overlap):]
		o.found.Cut = true
	}
	if end > 0 {
		o.scan(end)
	}
	line := o.next - bytes.Count(rest, []byte{'\n'})
	if keep == chunk && len(rest) <= cap(o.buffer)/2 { // a text goes on: so will the buffer be of use
		o.buffer = o.buffer[:copy(o.buffer[:cap(o.buffer)], rest)]
		o.rows = 0
	} else {
		kept := bytes.Clone(rest)
		o.release()
		o.buffer = kept
		o.observer.held += cap(kept)
	}
	o.marks = o.marks[:0]
	if len(o.buffer) > 0 {
		o.marks = append(o.marks, mark{0, 0, line})
	}
}

// scan looks through the beginning of the buffer.
func (o *Observation) scan(end int) {
	before := o.number
	_ = o.observer.catalogue.set.Scan(bytes.NewReader(o.buffer[:end]), func(line literal.Line) error {
		o.number = before + int(line.Number)
		o.line(line)
		return nil
	}) // neither the reader nor the visitor fails
	o.number = before + end // no two lines have one number
}

// place is the line of the file on which a line of the buffer begins.
func (o *Observation) place(line literal.Line) int {
	i := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].at > int(line.Offset) }) - 1
	if i < 0 {
		return 0
	}
	return o.marks[i].line + int(line.Number) - 1 - o.marks[i].row
}

// line takes what a line with a hit says.
func (o *Observation) line(line literal.Line) {
	c := o.observer.catalogue
	last := -1
	for _, hit := range line.Hits {
		if hit.Literal == last {
			continue
		}
		last = hit.Literal
		use := &c.literals[hit.Literal]
		at := int(hit.Offset - line.Offset)
		if use.fact >= 0 {
			o.saw(use.fact, line, at)
		}
		for _, number := range use.lines {
			o.lookAt(c.lines[number], line, at)
		}
		for _, number := range use.attributes {
			o.attribute(number, line.Text)
		}
	}
}

// enough is how often an expression is tried in one text, once it has matched: what follows would only be counted.
const enough = 4096

func (o *Observation) lookAt(l *line, line literal.Line, at int) {
	if f := o.found.fact(l.fact); f != nil && (f.last == o.number || f.lines >= enough && len(l.matches) > 0) {
		return
	}
	if l.holds(line.Text) {
		o.saw(l.fact, line, at)
	}
}

// saw notes a fact, and the first line that shows it.
func (o *Observation) saw(fact int, line literal.Line, at int) {
	f := o.found.fact(fact)
	if f == nil {
		f = o.found.add(seen{fact: fact, line: o.place(line)})
		if text := excerpt(line.Text, at); o.found.excerpts+len(text) <= maxExcerpts {
			o.found.excerpts += len(text)
			f.text = text
		}
	}
	if f.last != o.number {
		f.last = o.number
		f.lines++
	}
}

// attribute tries a pattern on a line, so many times in one text.
func (o *Observation) attribute(number int, text []byte) {
	c := o.observer.catalogue
	a := c.attributes[number]
	if len(a.kinds) > 0 && !slices.ContainsFunc(a.kinds, func(k string) bool { return slices.Contains(o.found.Kinds, k) }) {
		return
	}
	if o.tries == nil {
		o.tries = make([]int, len(c.attributes))
	}
	if o.tries[number]++; o.tries[number] > enough {
		return
	}
	if match := a.pattern.FindSubmatch(text); match != nil {
		o.found.value(number, a.value(string(match[a.group])))
	}
}

package catalogue

import (
	"bytes"
	"sort"

	"salve/internal/triage/literal"
	"salve/internal/triage/results"
)

const (
	chunk     = literal.MaxLine // bytes that are looked through at a time
	smallest  = 4 << 10         // what an observation holds before it takes a whole buffer
	maxHeld   = 32 << 20        // bytes that the open observations of a run hold back
	maxHeldBy = 512             // bytes of a line that each may go on holding when they hold too much
	maxSpare  = 64              // buffers that wait for the next observation
)

// Observer sees the texts of one run. It is for one goroutine, as results.Reader is.
type Observer struct {
	catalogue *Catalogue
	open      []*Observation
	held      int // bytes of their buffers
	limit     int // of held
	relief    int // held from which they all have to let go: the limit, or more where that didn't help
	spare     [][]byte
	file      string // the last one, with its kinds
	kinds     []string
	producer  string
}

// Observer is a new one, for a results.Reader.
func (c *Catalogue) Observer() *Observer {
	return &Observer{catalogue: c, limit: maxHeld, relief: maxHeld}
}

// Observe begins the texts of one case.
func (o *Observer) Observe(file string) results.Observation {
	if o.file != file || o.producer == "" {
		o.file = file
		o.kinds, o.producer = o.catalogue.kindsOf(file)
	}
	begun := &Observation{observer: o, index: len(o.open)}
	begun.found = Found{File: file, Kinds: o.kinds, Producer: o.producer}
	o.open = append(o.open, begun)
	return begun
}

// relieve makes all open observations look through what they hold, and keep less of unfinished lines if need be.
func (o *Observer) relieve() {
	for _, open := range o.open {
		open.look(chunk)
		open.shrink()
	}
	for i := 0; i < len(o.open) && o.held > o.limit/2; i++ {
		o.open[i].look(maxHeldBy)
		o.open[i].shrink()
	}
	o.relief = max(o.limit, 2*o.held)
}

// Observation is of the texts of one case. It holds back lines until there are enough of them to be worth a look, and
// the beginning of a line until its end comes; a line of more than 64 KiB is looked at in parts.
type Observation struct {
	observer *Observer
	index    int // in what is open
	buffer   []byte
	rows     int    // line ends in the buffer
	next     int    // line of the file that would go on where the buffer ends
	marks    []mark // from where in the buffer on which lines of the file are
	above    int    // line ends before the buffer
	number   int    // of the line that is looked at, in all that was seen
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
		case o.observer.held > o.observer.relief:
			o.observer.relieve()
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
	last := len(o.observer.open) - 1
	o.observer.open[o.index] = o.observer.open[last]
	o.observer.open[o.index].index = o.index
	o.observer.open[last] = nil
	o.observer.open = o.observer.open[:last]
}

// append takes a buffer for large texts from those that are spare.
func (o *Observation) append(piece []byte) {
	before := cap(o.buffer)
	if len(o.buffer)+len(piece) > smallest && before < 2*chunk {
		o.buffer = append(o.observer.take(), o.buffer...)
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
	of := o.observer
	of.held -= cap(o.buffer)
	if of.held < of.limit/2 {
		of.relief = of.limit
	}
	if cap(o.buffer) >= 2*chunk && len(of.spare) < maxSpare {
		of.spare = append(of.spare, o.buffer)
	}
	o.buffer = nil
}

// shrink holds what there is in as little as it needs.
func (o *Observation) shrink() {
	kept := bytes.Clone(o.buffer)
	o.release()
	o.buffer = kept
	o.observer.held += cap(kept)
}

// look scans whole lines and keeps the beginning of the next one. If that is more than may be kept, it is scanned as
// well, and only as much of it is kept as a literal may reach back.
func (o *Observation) look(keep int) {
	end := bytes.LastIndexByte(o.buffer, '\n') + 1
	rest := o.buffer[end:]
	switch {
	case len(rest) > keep:
		o.found.Cut = true
		text := o.scan(len(o.buffer))
		rest = text[max(0, len(text)-o.observer.catalogue.overlap):]
	case end > 0:
		o.scan(end)
	default:
		return
	}
	o.buffer = append(o.buffer[:0], rest...)
	o.marks = append(o.marks[:0], mark{line: o.next})
}

// scan looks through the beginning of the buffer, up to where its last line ends, or beyond, and gives what it saw.
func (o *Observation) scan(end int) []byte {
	text := o.plain(end)
	_ = o.observer.catalogue.set.Scan(bytes.NewReader(text), func(line literal.Line) error {
		o.number = o.above + int(line.Number)
		o.line(line)
		return nil
	}) // neither the reader nor the visitor fails
	o.above += o.rows
	o.rows = 0
	return text
}

// plain takes terminals' sequences out of the beginning of the buffer: a text is found whatever its colours.
func (o *Observation) plain(end int) []byte {
	text := o.buffer[:end]
	to, from, next := 0, 0, 0
	for {
		ahead := bytes.IndexByte(text[from:], escapeByte)
		if ahead < 0 && to == from {
			return text
		}
		if ahead < 0 {
			ahead = end - from
		}
		for ; next < len(o.marks) && o.marks[next].at <= from+ahead; next++ {
			o.marks[next].at -= from - to
		}
		copy(text[to:], text[from:from+ahead])
		to, from = to+ahead, from+ahead
		if from == end {
			return text[:to]
		}
		length := escape(text[from:])
		if length == 0 { // it stands for nothing known, and stays
			length = 1
			text[to] = escapeByte
			to++
		}
		from += length
	}
}

// place is the line of the file on which a line of the buffer begins.
func (o *Observation) place(line literal.Line) int {
	next := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].at > int(line.Offset) })
	last := o.marks[next-1] // one is at the buffer's beginning
	return last.line + int(line.Number) - 1 - last.row
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
	if len(a.kinds) > 0 && !share(a.kinds, o.found.Kinds) {
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

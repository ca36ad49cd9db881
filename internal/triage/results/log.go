package results

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
)

// log reads a plain log: one failing unit. Its message is the line that tells its failure best, and its place that
// line's; what failed is for signatures and groups to say.
func (f *file) log() error {
	c := Case{Name: filepath.Base(f.path), Outcome: Fail, Attempt: 1, Log: true, Origin: Place{f.path, 1}}
	output, seen := f.buffer(), f.observed()
	line, tells := 1, telling{limit: f.limits.Message, line: 1}
	for {
		piece, err := f.in.ReadSlice('\n')
		_, _ = output.Write(piece)
		seen.text(line, piece)
		tells.piece(piece)
		line += bytes.Count(piece, []byte("\n"))
		if err == nil || errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		var replaced int
		c.Output, replaced = output.text()
		c.Notes = replacedNote(replaced)
		best := tells.end()
		c.Message, c.Origin.Line = f.short(&Case{}, string(best.text)), best.line // the output has the same notes
		c.Failure.Head, _ = clean(string(tells.block))
		c.Observation = seen.end()
		if told := f.emit(c); told != nil {
			return told
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return f.broken(line, err)
	}
}

// broken is a stream that ends before its end: a truncated archive, a failing disk.
func (f *file) broken(line int, err error) *Problem {
	return f.problem(line, "breaks off: "+err.Error(), err)
}

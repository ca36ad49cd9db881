package literal

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
)

// A Hit is one occurrence of a literal.
type Hit struct {
	Literal int
	Offset  int64 // of its first byte in the stream
}

// A Line is a line in which a literal begins. Text and Hits are the reader's only until the next line.
type Line struct {
	Number int64 // from 1
	Offset int64 // of Text in the stream
	Text   []byte
	// Hits are in the order of their offsets, and of literals where these are equal.
	Hits []Hit
	// Part tells that the line is too long to be kept: Text is a part of it, which overlaps with the next one by the
	// longest literal. Each hit is in the part in which it lies whole, and in one only.
	Part bool
}

// Scan calls visit for each line with a hit, in their order, until it gives an error. What was read before an error of
// the reader is visited, and then that error is given back.
func (s *Set) Scan(r io.Reader, visit func(Line) error) error {
	scan := s.scans.Get().(*scan)
	defer s.scans.Put(scan)
	return scan.run(r, visit)
}

// A scan is the state of one pass over a stream.
type scan struct {
	set    *Set
	buffer []byte
	hits   []Hit
	offset int64 // of the buffer's first byte in the stream
	line   int64 // number of the line that it is in
	part   bool  // that line began before it
}

func (s *Set) newScan() *scan {
	// Beside a piece there is room for what a hit at its end reaches into, and for the samplers' last word.
	return &scan{set: s, buffer: make([]byte, s.piece+s.overlap+maxWindow)}
}

func (s *scan) run(r io.Reader, visit func(Line) error) error {
	s.offset, s.line, s.part = 0, 1, false
	space := s.buffer[:len(s.buffer)-maxWindow]
	filled := 0
	var err error
	for last := false; !last; {
		if err == nil {
			var n int
			n, err = fill(r, space[filled:])
			filled += n
		}
		text := space[:filled]
		last = err != nil && filled <= s.set.piece
		limit := filled
		if !last {
			limit = s.limit(text)
		}
		if err := s.visitLines(text, limit, last, visit); err != nil {
			return err
		}
		s.offset += int64(limit)
		filled = copy(space, text[limit:])
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// fill reads until space is full. Unlike io.ReadFull it tells a stream's end from an archive that is cut off, which
// readers report as io.ErrUnexpectedEOF.
func fill(r io.Reader, space []byte) (filled int, err error) {
	for empty := 0; filled < len(space) && err == nil; {
		var n int
		n, err = r.Read(space[filled:])
		filled += n
		if empty++; n > 0 {
			empty = 0
		}
		if empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return filled, err
}

// limit says up to where hits may begin to be told by now: to the end of the last line in a piece, or, in a line that
// is longer, to the end of the piece. What they reach into is there behind it.
func (s *scan) limit(text []byte) int {
	if end := bytes.LastIndexByte(text[:s.set.piece], '\n'); end >= 0 {
		return end + 1
	}
	return s.set.piece
}

// visitLines visits those with a hit that begins before limit.
func (s *scan) visitLines(text []byte, limit int, last bool, visit func(Line) error) error {
	s.find(text, limit)
	number, begin := s.line, 0
	for hits := s.hits; len(hits) > 0; {
		first := int(hits[0].Offset)
		number += int64(bytes.Count(text[begin:first], []byte{'\n'}))
		begin += bytes.LastIndexByte(text[begin:first], '\n') + 1
		end := len(text)
		if length := bytes.IndexByte(text[first:], '\n'); length >= 0 {
			end = first + length
		}
		count := 0
		for ; count < len(hits) && hits[count].Offset <= int64(end); count++ {
			hits[count].Offset += s.offset
		}
		line := Line{
			Number: number, Offset: s.offset + int64(begin), Text: text[begin:end:end], Hits: hits[:count:count],
			Part: s.part && begin == 0 || end >= limit && !last,
		}
		if err := visit(line); err != nil {
			return err
		}
		hits = hits[count:]
	}
	s.line = number + int64(bytes.Count(text[begin:limit], []byte{'\n'}))
	s.part = limit > 0 && text[limit-1] != '\n'
	return nil
}

// find sets the hits that begin before limit, with offsets in text.
func (s *scan) find(text []byte, limit int) {
	s.hits = s.hits[:0]
	text = text[:min(len(text), limit+s.set.overlap)]
	for _, sampler := range s.set.samplers {
		s.hits = sampler.find(s.hits, s.set.literals, text, limit)
	}
	slices.SortFunc(s.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Literal, b.Literal))
	})
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// printer writes what is told and what programs say, one after the other.
type printer struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes what a program says.
func (p *printer) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to.Write(text)
}

func (p *printer) print(format string, arguments ...any) { fmt.Fprintf(p, format, arguments...) }

// recorder keeps what it prints.
type recorder struct {
	printer *printer
	mu      sync.Mutex
	said    bytes.Buffer
}

// Write prints and keeps.
func (r *recorder) Write(text []byte) (int, error) {
	r.mu.Lock()
	r.said.Write(text)
	r.mu.Unlock()
	return r.printer.Write(text)
}

// String is what was said so far.
func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

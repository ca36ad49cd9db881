//go:build linux

package main

import (
	"io"
	"sync"
	"time"
)

// log writes lines without ever waiting for who reads them: a pipe that is full, or a
// terminal that is stopped, must not hold up a boot. What can't be written is lost.
type log struct {
	lines chan []byte
	write sync.WaitGroup
}

const (
	logRoom = 256 // lines that wait
	// logPatience is how long the end of a process, or its becoming another, waits for
	// its last lines.
	logPatience = 300 * time.Millisecond
)

func newLog(to io.Writer) *log {
	l := &log{lines: make(chan []byte, logRoom)}
	go func() {
		for line := range l.lines {
			_, _ = to.Write(line) // there is nobody to tell
			l.write.Done()
		}
	}()
	return l
}

func (l *log) Write(line []byte) (int, error) {
	l.write.Add(1)
	select {
	case l.lines <- append([]byte{}, line...):
	default:
		l.write.Done()
	}
	return len(line), nil
}

// flush waits for what was written, but not for long.
func (l *log) flush() {
	written := make(chan struct{})
	go func() {
		l.write.Wait()
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(logPatience):
	}
}

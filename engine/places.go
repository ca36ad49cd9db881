package engine

import "sync"

// Places bound how many steps are at work at a time, over all the runs whose engines share them. A step that has to
// wait for one is not announced yet.
type Places struct {
	mu   sync.Mutex
	free int
	// given is closed when the next place becomes free.
	given chan struct{}
}

// NewPlaces makes as many places, at least one.
func NewPlaces(count int) *Places {
	return &Places{free: max(1, count), given: make(chan struct{})}
}

// take takes a place; false when none is free. Of no places at all there is always one.
func (p *Places) take() bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == 0 {
		return false
	}
	p.free--
	return true
}

// give gives a place back, and wakes all that wait for one.
func (p *Places) give() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	close(p.given)
	p.given = make(chan struct{})
}

// freed is closed when a place has been given back since the call.
func (p *Places) freed() <-chan struct{} {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

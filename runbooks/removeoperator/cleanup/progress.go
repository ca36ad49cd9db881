package cleanup

import (
	"fmt"
	"sync"
	"time"

	"salve/internal/clock"
	"salve/runbook"
)

// reportEvery is the shortest time between two reports of progress.
const reportEvery = 250 * time.Millisecond

// steady reports progress from many goroutines, but not more often than anybody
// can read it.
type steady struct {
	clock  clock.Clock
	report func(runbook.Progress)

	mu   sync.Mutex
	next time.Time
}

func (s *steady) say(progress func() runbook.Progress) {
	if s.report == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); !now.Before(s.next) {
		s.next = now.Add(reportEvery)
		s.report(progress())
	}
}

// meter counts towards a total.
type meter struct {
	steady
	total int
	verb  string

	mu   sync.Mutex
	done int
}

func (o *Operator) newMeter(total int, verb string, report func(runbook.Progress)) *meter {
	return &meter{steady: steady{clock: o.Clock, report: report}, total: total, verb: verb}
}

func (m *meter) add(n int) {
	m.mu.Lock()
	m.done += n
	text := fmt.Sprintf("%d of %d objects %s", m.done, m.total, m.verb)
	whole := m.done == m.total
	m.mu.Unlock()
	if whole && m.report != nil {
		m.report(runbook.Progress{Text: text})
		return
	}
	m.say(func() runbook.Progress { return runbook.Progress{Text: text} })
}

func (m *meter) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

package backoff

import "time"

// Polling is the schedule by which an operation of unknown length is asked
// about: quickly at first, then in proportion to the time already waited, so
// that the answer is seen late by a fixed share of the operation at the most.
type Polling struct {
	// First is the shortest pause.
	First time.Duration
	// Longest is the longest pause.
	Longest time.Duration
	// Share is the part of the elapsed time that the next pause may take.
	Share float64
}

// Operations is the schedule for ARM's long-running operations: within 2 % of
// the operation's length, at most every second and at least every 15 s.
func Operations() Polling {
	return Polling{First: time.Second, Longest: 15 * time.Second, Share: 0.02}
}

// Next gives the pause after elapsed. What the service asked for by Retry-After
// is never undercut.
func (p Polling) Next(elapsed, retryAfter time.Duration) time.Duration {
	pause := time.Duration(float64(elapsed) * p.Share)
	pause = min(max(pause, p.First), p.Longest)
	return max(pause, retryAfter)
}

// Exponential is a sequence of growing pauses for something that was refused.
type Exponential struct {
	First, Longest time.Duration
	Factor         float64
}

// Refusals is the schedule after a refusal that clears by itself.
func Refusals() Exponential {
	return Exponential{First: 2 * time.Second, Longest: 30 * time.Second, Factor: 1.6}
}

// Pause gives the pause before attempt n+1, n counting from 1; never less than
// what the service asked for.
func (b Exponential) Pause(n int, retryAfter time.Duration) time.Duration {
	pause := float64(b.First)
	for range n - 1 {
		pause *= b.Factor
		if pause >= float64(b.Longest) {
			break
		}
	}
	return max(min(time.Duration(pause), b.Longest), retryAfter)
}

package console

import (
	"fmt"
	"time"
)

// short is below which width a row has no room for words about time.
const short = 60

// span writes a duration as 2m10s.
func span(d time.Duration) string { return max(0, d).Round(time.Second).String() }

// about writes how long something usually takes, no more exactly than it is known.
func about(d time.Duration) string {
	unit := time.Minute
	switch {
	case d < 10*time.Second:
		unit = time.Second
	case d < 2*time.Minute:
		unit = 5 * time.Second
	case d < 10*time.Minute:
		unit = 30 * time.Second
	}
	d = max(d.Round(unit), time.Second)
	switch hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%dh", hours)
	case minutes > 0 && seconds > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	case minutes > 0:
		return fmt.Sprintf("%dm", minutes)
	default:
		return fmt.Sprintf("%ds", seconds)
	}
}

// aboutTime says how long a step that has not begun usually takes.
func (d *drawing) aboutTime(usual time.Duration) string {
	switch {
	case usual <= 0 || d.over:
		return ""
	case d.width < short:
		return "~" + about(usual)
	}
	return "about " + about(usual)
}

// against says how long a step is at work, and how long it usually is.
func (d *drawing) against(took string, elapsed, usual time.Duration) string {
	overdue := elapsed > usual+usual/10
	switch {
	case usual <= 0 || took == "":
		return took
	case d.width < short && overdue:
		return took + ", over ~" + about(usual)
	case d.width < short:
		return took + "/~" + about(usual)
	case overdue:
		return took + ", overdue: about " + about(usual) + " is usual"
	}
	return took + " of about " + about(usual)
}

// left says how much of a run is left, as far as that is known.
func (d *drawing) left(p *picture) string {
	left, all := p.remaining(d.now)
	switch {
	case left < time.Second || d.over || p.undoing != "" || p.checking:
		return ""
	case d.width < short:
		return ", ~" + about(left) + " left"
	case !all:
		return ", at least " + about(left) + " left"
	}
	return ", about " + about(left) + " left"
}

// remaining adds up what the steps usually take that are not over. all tells whether that is known of each of them.
// Of steps that run at once, the one that takes longest counts.
func (p *picture) remaining(now time.Time) (left time.Duration, all bool) {
	all = true
	of := func(step *row) time.Duration {
		usual := p.usual[step.name]
		switch {
		case step.result != nil:
			return 0
		case usual <= 0:
			all = false
			return 0
		case step.began.IsZero():
			return usual
		}
		return max(0, usual-now.Sub(step.began))
	}
	if len(p.waves) == 0 {
		for _, step := range p.steps {
			left += of(step)
		}
		return left, all
	}
	for _, wave := range p.waves {
		longest := time.Duration(0)
		for _, name := range wave {
			if step := p.byName[name]; step != nil {
				longest = max(longest, of(step))
			}
		}
		left += longest
	}
	return left, all
}

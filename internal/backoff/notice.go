package backoff

import (
	"context"
	"time"
)

// noticeEvery is how often a wait is said while it lasts; the first time is at once.
const noticeEvery = 10 * time.Second

type noticeKey struct{}

// Notice is what is waited for: a read that failed, for how long it has been tried, and when it is tried again.
type Notice struct {
	Err error
	// Text says in words what is waited for, where that is no read that failed.
	Text   string
	Waited time.Duration
	Pause  time.Duration
}

// WithNotice has Retry, and others that wait, tell of what it waits for, at once and then every ten seconds. say may
// be called by several goroutines at once.
func WithNotice(ctx context.Context, say func(Notice)) context.Context {
	return context.WithValue(ctx, noticeKey{}, say)
}

// Notices are those of one wait.
type Notices struct {
	say  func(Notice)
	last time.Duration
	some bool
}

// NoticesOf are those of a wait that begins.
func NoticesOf(ctx context.Context) *Notices {
	say, _ := ctx.Value(noticeKey{}).(func(Notice))
	return &Notices{say: say}
}

// Tell says a notice, unless one was said a moment ago, and gives the time until the next one is due.
func (n *Notices) Tell(notice Notice) time.Duration {
	if since := notice.Waited - n.last; n.some && since < noticeEvery {
		return noticeEvery - since
	}
	if n.say != nil {
		n.say(notice)
	}
	n.last, n.some = notice.Waited, true
	return noticeEvery
}

package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"salve/engine"
	"salve/internal/clock"
)

const (
	// tries is how often a message is sent, and attemptTime how long each of them may take.
	tries       = 3
	attemptTime = 10 * time.Second
	firstPause  = time.Second
	// room is how many messages may wait for one receiver; a process has few outcomes.
	room = 64
	// mostAnswer bounds what is read of an answer, in bytes.
	mostAnswer = 64 << 10
)

// Options are what a notifier needs.
type Options struct {
	// Config is the file of --notify, and Lookups reads the secrets that it names.
	Config  []byte
	Lookups Lookups
	// Runbooks are the names that it may tell apart; any when there are none.
	Runbooks []string
	// Source is the program and the machine.
	Source string
	Clock  clock.Clock
	// Transport sends requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
}

// Notifier sends messages: to each receiver one after the other, and to all of them at the same time, so that one that
// does not answer keeps nothing from the others.
type Notifier struct {
	options Options
	lines   []line
	client  *http.Client
	stop    context.CancelFunc

	mu     sync.Mutex
	failed []error
}

// line is the messages that wait for one receiver; sent is closed when all are sent.
type line struct {
	to    receiver
	queue chan Message
	sent  chan struct{}
}

// New reads the configuration and starts sending. Close ends it.
func New(options Options) (*Notifier, error) {
	receivers, err := parse(options.Config, options.Lookups, options.Runbooks)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Notifier{
		options: options, stop: stop,
		// A redirect would carry the message, and its bearer, to where nobody named.
		client: &http.Client{Transport: options.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
	for _, to := range receivers {
		waiting := line{to: to, queue: make(chan Message, room), sent: make(chan struct{})}
		n.lines = append(n.lines, waiting)
		go n.send(ctx, waiting) // Close waits for it
	}
	return n, nil
}

// Tell sends a message for the outcome of a run.
func (n *Notifier) Tell(event engine.Event) {
	if event.Kind != engine.RunEnded || event.Run == "" {
		return
	}
	message := messageOf(event, n.options.Source)
	for _, waiting := range n.lines {
		if !waiting.to.about.wants(message) {
			continue
		}
		select {
		case waiting.queue <- message:
		default:
			n.fail(fmt.Errorf("%s, run %s: too many outcomes at once", waiting.to.name, message.Run))
		}
	}
}

func (n *Notifier) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, err)
}

func (n *Notifier) send(ctx context.Context, waiting line) {
	defer close(waiting.sent)
	for message := range waiting.queue {
		if err := n.deliver(ctx, waiting.to, message); err != nil {
			n.fail(fmt.Errorf("%s, run %s: %w", waiting.to.name, message.Run, err))
		}
	}
}

func (n Notification) wants(m Message) bool {
	return (len(n.Outcomes) == 0 || slices.Contains(n.Outcomes, m.Outcome)) &&
		(len(n.Runbooks) == 0 || slices.Contains(n.Runbooks, m.Runbook))
}

// deliver sends a message until it was taken or refused for good.
func (n *Notifier) deliver(ctx context.Context, to receiver, message Message) error {
	body, err := to.form.body(message)
	if err != nil {
		return fmt.Errorf("executing the template: %w", err)
	}
	for try := 1; ; try++ {
		again, err := n.post(ctx, to, body)
		if err == nil || !again || try == tries {
			return err
		}
		if clock.Sleep(ctx, n.options.Clock, firstPause<<(try-1)) != nil {
			return err
		}
	}
}

// post sends a message once. Its error does not show the address.
func (n *Notifier) post(ctx context.Context, to receiver, body []byte) (again bool, _ error) {
	ctx, cancel := clock.WithTimeout(ctx, n.options.Clock, attemptTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("invalid URL")
	}
	request.Header.Set("Content-Type", to.form.contentType)
	if to.bearer != "" {
		request.Header.Set("Authorization", "Bearer "+to.bearer)
	}
	response, err := n.client.Do(request)
	if err != nil {
		var shown *url.Error // it begins with the address
		if errors.As(err, &shown) {
			err = shown.Err
		}
		return true, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswer)) // so that the connection can be used again
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return false, nil
	default:
		again := code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
		return again, fmt.Errorf("refused: %s", response.Status)
	}
}

// Close waits until all are sent, for as long as ctx allows.
func (n *Notifier) Close(ctx context.Context) error {
	for _, waiting := range n.lines {
		close(waiting.queue)
	}
	for _, waiting := range n.lines {
		select {
		case <-waiting.sent:
			continue
		case <-ctx.Done():
		}
		select {
		case <-waiting.sent: // both are true at once
		default:
			n.fail(fmt.Errorf("%s: timed out: %d not delivered", waiting.to.name, len(waiting.queue)+1))
		}
	}
	n.stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := errors.Join(n.failed...); err != nil {
		return fmt.Errorf("notifications: not delivered: %w", err)
	}
	return nil
}

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
	// room is how many messages may wait; a process has few outcomes.
	room = 64
	// mostAnswer bounds what is read of an answer, in bytes.
	mostAnswer = 64 << 10
)

// Options are what a notifier needs.
type Options struct {
	// Config is the file of --notify, and Lookups reads the secrets that it names.
	Config  []byte
	Lookups Lookups
	// Source is the program and the machine.
	Source string
	Clock  clock.Clock
	// Transport sends requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
}

// Notifier sends messages one after the other.
type Notifier struct {
	options   Options
	receivers []receiver
	client    *http.Client
	queue     chan Message
	sent      chan struct{}
	stop      context.CancelFunc

	mu     sync.Mutex
	failed []error
}

// New reads the configuration and starts sending. Close ends it.
func New(options Options) (*Notifier, error) {
	receivers, err := parse(options.Config, options.Lookups)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Notifier{
		options: options, receivers: receivers, queue: make(chan Message, room), sent: make(chan struct{}), stop: stop,
		// A redirect would carry the message, and its bearer, to where nobody named.
		client: &http.Client{Transport: options.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
	go n.send(ctx) // Close waits for it
	return n, nil
}

// Tell sends a message for the outcome of a run.
func (n *Notifier) Tell(event engine.Event) {
	if event.Kind != engine.RunEnded || event.Run == "" {
		return
	}
	select {
	case n.queue <- messageOf(event, n.options.Source):
	default:
		n.fail(errors.New("too many outcomes at once"))
	}
}

func (n *Notifier) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, err)
}

func (n *Notifier) send(ctx context.Context) {
	defer close(n.sent)
	for message := range n.queue {
		for _, to := range n.receivers {
			if !to.about.wants(message) {
				continue
			}
			if err := n.deliver(ctx, to, message); err != nil {
				n.fail(fmt.Errorf("%s, run %s: %w", to.name, message.Run, err))
			}
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
	close(n.queue)
	select {
	case <-n.sent:
	case <-ctx.Done():
		n.fail(fmt.Errorf("timed out: %d and what was being sent are not delivered", len(n.queue)))
	}
	n.stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := errors.Join(n.failed...); err != nil {
		return fmt.Errorf("notifications: not delivered: %w", err)
	}
	return nil
}

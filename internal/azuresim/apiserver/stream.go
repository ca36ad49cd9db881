package apiserver

import (
	"context"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/watch"
)

// openWatch answers a watch with its stream.
func (s *Server) openWatch(ctx context.Context, asked *Request) Response {
	wanted, err := newSelection(asked.kind.GroupVersionResource, asked.Namespace, asked.options)
	if err != nil {
		return s.Refuse(asked, err)
	}
	w, err := s.Store.watch(wanted, asked.options)
	if err != nil {
		return s.Refuse(asked, err)
	}
	encode := func(event watch.Event) ([]byte, error) { return s.encodeEvent(event, asked.format) }
	return Response{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {asked.format.streamType()}},
		Stream: &stream{ctx: ctx, watcher: w, encode: encode},
	}
}

// stream is the body of a watch's answer: its events, encoded when they are read.
type stream struct {
	ctx     context.Context
	watcher *watcher
	encode  func(watch.Event) ([]byte, error)
	unread  []byte
}

// Read waits for an event, until the watch, its stream or its context is ended.
func (s *stream) Read(into []byte) (int, error) {
	if len(s.unread) == 0 {
		select {
		case event, more := <-s.watcher.events:
			if !more {
				return 0, io.EOF
			}
			var err error
			if s.unread, err = s.encode(event); err != nil {
				return 0, err
			}
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	n := copy(into, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// Close ends the watch.
func (s *stream) Close() error {
	s.watcher.stop()
	return nil
}

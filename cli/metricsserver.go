package cli

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// headerTime bounds how long a client may take to ask, and answerTime how long an answer may take to be read.
const (
	headerTime = 10 * time.Second
	answerTime = time.Minute
)

// serveMetrics serves metrics at an address until the function that it gives is called.
func serveMetrics(ctx context.Context, address string, metrics http.Handler) (stop func(), _ error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends by Close
	return func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

package azuresim

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// inProcess is a transport that hands requests to a function, without a socket. It returns an error where a real one
// would: a lost call, a context that ended.
type inProcess func(r *http.Request, body []byte) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (serve inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		return serve(r, nil)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // it is read to its end
	if err != nil {
		return nil, err
	}
	return serve(r, body)
}

// responseTo is what an HTTP client gets: a body, or a stream.
func responseTo(r *http.Request, status int, header http.Header, body []byte, stream io.ReadCloser) *http.Response {
	response := &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: stream, ContentLength: -1, Request: r,
	}
	if stream == nil {
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return response
}

// handler serves what a transport answers.
type handler struct{ transport http.RoundTripper }

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := r.Clone(r.Context())
	asked.URL.Host, asked.URL.Scheme = r.Host, "http"
	if r.TLS != nil {
		asked.URL.Scheme = "https"
	}
	answer, err := h.transport.RoundTrip(asked)
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection: the network error that err is
	}
	defer answer.Body.Close()
	for key, values := range answer.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.StatusCode)
	control := http.NewResponseController(w)
	chunk := make([]byte, 32<<10)
	for {
		if answer.ContentLength < 0 {
			_ = control.Flush() // a watch is sent as it comes, its header first; where it can't be flushed it comes late
		}
		n, err := answer.Body.Read(chunk)
		if _, gone := w.Write(chunk[:n]); err != nil || gone != nil {
			return // a client that went away reads nothing
		}
	}
}

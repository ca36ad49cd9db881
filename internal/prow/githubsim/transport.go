package githubsim

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
)

// Transport reaches the server without a network, for tests whose time is virtual. Connections are cut as over one.
func (s *Server) Transport() http.RoundTripper { return inProcess{s} }

type inProcess struct{ server *Server }

func (t inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	arriving := request.Clone(request.Context())
	if arriving.Body == nil {
		arriving.Body = http.NoBody
	}
	arriving.Host = request.URL.Host
	recorder := httptest.NewRecorder()
	aborted := serveAborted(t.server, recorder, arriving)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if aborted && !recorder.Flushed && recorder.Body.Len() == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	response := recorder.Result()
	response.Request = request
	if aborted {
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(recorder.Body.Bytes()), broken{}))
	}
	return response, nil
}

// broken is what follows the part of a body that came.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// serveAborted tells whether the handler cut the connection, as net/http's server takes it.
func serveAborted(handler http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		if value := recover(); value != nil {
			if value != http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, compared as it does
				panic(value)
			}
			aborted = true
		}
	}()
	handler.ServeHTTP(w, r)
	return false
}

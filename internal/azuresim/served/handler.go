package served

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"salve/internal/azuresim/keyvault"
	"salve/internal/clock"
)

// handler leads to the control endpoint, to key vaults and to the World, and logs each request.
func (s *Server) handler() http.Handler {
	control, vaults := s.control(), keyvault.New(clock.Real{})
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		seen := &statusSeen{ResponseWriter: response}
		defer s.logRequest(request, seen, time.Now())
		if strings.HasPrefix(request.URL.Path, controlPath) {
			control.ServeHTTP(seen, request)
			return
		}
		if strings.HasPrefix(request.URL.Path, keyvault.Prefix) {
			vaults.ServeHTTP(seen, request)
			return
		}
		s.world.ServeHTTP(seen, request)
	})
}

func (s *Server) logRequest(request *http.Request, seen *statusSeen, start time.Time) {
	s.log.LogAttrs(request.Context(), slog.LevelDebug, "request",
		slog.String("method", request.Method), slog.String("path", request.URL.Path), slog.Int("status", seen.status),
		slog.Duration("took", time.Since(start)),
		slog.String("client-request-id", request.Header.Get("x-ms-client-request-id")))
}

// statusSeen remembers the status that was answered; 0 when there was no answer.
type statusSeen struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusSeen) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusSeen) Unwrap() http.ResponseWriter { return s.ResponseWriter }

//go:build linux

package liveconfig

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Code is a status of gRPC.
type Code int

// The codes that are told apart; the numbers are gRPC's.
const (
	codeOK                 Code = 0
	codeUnknown            Code = 2
	codeInvalidArgument    Code = 3
	codeNotFound           Code = 5
	codeAlreadyExists      Code = 6
	codePermissionDenied   Code = 7
	codeResourceExhausted  Code = 8
	codeFailedPrecondition Code = 9
	codeOutOfRange         Code = 11
	codeUnimplemented      Code = 12
	codeInternal           Code = 13
	codeUnavailable        Code = 14
	codeUnauthenticated    Code = 16
)

// StatusError is an answer of the service that carries no pointer.
type StatusError struct {
	Code    Code
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the live service answers with status %d: %q", e.Code, e.Message)
}

// nothing tells whether the code says that nothing is published for this node.
func (c Code) nothing() bool {
	return c == codeUnauthenticated || c == codePermissionDenied || c == codeNotFound
}

// refuses tells whether the service was reached and will not answer this question:
// its word counts, and a pointer that was embedded earlier does not.
func (c Code) refuses() bool {
	switch c {
	case codeInvalidArgument, codeAlreadyExists, codeResourceExhausted, codeFailedPrecondition, codeOutOfRange:
		return true
	default:
		return false
	}
}

// statusOf reads the status of an answer whose body was read to its end: from the
// trailers, or from the header where there are trailers only.
func statusOf(response *http.Response) error {
	fields := response.Trailer
	if fields.Get("Grpc-Status") == "" {
		fields = response.Header
	}
	text := fields.Get("Grpc-Status")
	code, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return &StatusError{codeInternal, fmt.Sprintf("it has no status (%.20q)", text)}
	}
	if Code(code) == codeOK {
		return nil
	}
	message := fields.Get("Grpc-Message")
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	const enough = 200
	return &StatusError{Code(code), message[:min(len(message), enough)]}
}

// statusOfHTTP is the status that gRPC gives to an answer of HTTP that isn't its
// own, such as a gateway's:
// https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md.
func statusOfHTTP(response *http.Response) error {
	code := codeUnknown
	switch response.StatusCode {
	case http.StatusOK:
		code = codeUnknown // the body is not gRPC's
	case http.StatusBadRequest:
		code = codeInternal
	case http.StatusUnauthorized:
		code = codeUnauthenticated
	case http.StatusForbidden:
		code = codePermissionDenied
	case http.StatusNotFound:
		code = codeUnimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = codeUnavailable
	}
	return &StatusError{code, "no answer of gRPC: " + response.Status}
}

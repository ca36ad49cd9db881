package kube

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
)

// Classify gives an error of client-go its class. An error that has one keeps it.
func Classify(err error) error {
	var classed *apierr.Error
	if err == nil || errors.As(err, &classed) {
		return err
	}
	switch {
	case apierrors.IsForbidden(err):
		err = &ForbiddenError{err}
	case apierrors.IsUnauthorized(err): // nobody knows who asks: no role would help
		err = fmt.Errorf("unauthorized: the API server does not accept the credential (%w). "+
			"hint: log in again, or --kubeconfig FILE with a credential that is valid; "+
			"kubectl auth whoami shows whose it is", err)
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return &apierr.Error{Class: classOf(err), RetryAfter: time.Duration(seconds) * time.Second, Err: err}
}

// classOf calls nothing missing but what the API server itself says is not found:
// a 404 without a Status comes from a path that is not served or from something in
// between, and 410 Gone is about a resourceVersion.
func classOf(err error) apierr.Class {
	switch {
	case apierrors.IsNotFound(err) && !isUnserved(err):
		return apierr.Missing
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return apierr.Conflict
	case apierrors.IsTooManyRequests(err):
		return apierr.Throttled
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return apierr.Denied
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err),
		apierrors.IsNotAcceptable(err),
		isUnserved(err):
		return apierr.Terminal
	default:
		return apierr.Transient
	}
}

// isUnserved tells a 404 of a path from one of an object. client-go makes a Status
// of any body and marks it with this cause
// (https://github.com/kubernetes/apimachinery/blob/master/pkg/api/errors/errors.go, NewGenericServerResponse).
func isUnserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IsNotFound tells whether an error says that the very thing that was asked for does
// not exist.
func IsNotFound(err error) bool { return err != nil && apierr.ClassOf(err) == apierr.Missing }

// isAbsent tells whether an error is the API server's word that the named object
// does not exist, rather than its namespace or anything else on the way to it.
func isAbsent(err error, resource, name string) bool {
	var status apierrors.APIStatus
	if !IsNotFound(Classify(err)) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	return details.Kind == resource && details.Name == name
}

// notAbsence keeps a 404 of something else, such as the namespace, from being taken
// for the absence of what was asked for.
func notAbsence(what string, err error) error {
	if err = Classify(err); !IsNotFound(err) {
		return err
	}
	return apierr.New(apierr.Transient, "unexpected answer: %s was asked for, and something else is not found: %w", what,
		err)
}

// wrongObject is an answer about something else than was asked for. It tells
// nothing about what was.
func wrongObject(kind, wanted, got string) error {
	return apierr.New(apierr.Transient, "unexpected object: asked for %s %q, got %q", kind, wanted, got)
}

// maxText bounds a name or a message that comes from a cluster: the longest name
// that Kubernetes allows.
const maxText = 253

// bounded cuts a text from a cluster, which is shown, to a length that a person
// reads and a record can hold. What it contains is data: the console escapes it.
func bounded(text string) string {
	runes := []rune(text)
	if len(runes) <= maxText {
		return text
	}
	return string(runes[:maxText-1]) + "…"
}

package kube

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"salve/fault"
)

// Classify gives an error of client-go its class. An error that has one keeps it.
func Classify(err error) error {
	var classed *fault.Error
	if err == nil || errors.As(err, &classed) {
		return err
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return &fault.Error{Class: classOf(err), RetryAfter: time.Duration(seconds) * time.Second, Err: err}
}

func classOf(err error) fault.Class {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return fault.Missing
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return fault.Conflict
	case apierrors.IsTooManyRequests(err):
		return fault.Throttled
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fault.Denied
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err):
		return fault.Terminal
	default:
		return fault.Transient
	}
}

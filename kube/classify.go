package kube

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"salve/internal/apierr"
)

// Classify gives an error of client-go its class. An error that has one keeps it.
func Classify(err error) error {
	var classed *apierr.Error
	if err == nil || errors.As(err, &classed) {
		return err
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return &apierr.Error{Class: classOf(err), RetryAfter: time.Duration(seconds) * time.Second, Err: err}
}

func classOf(err error) apierr.Class {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return apierr.Missing
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return apierr.Conflict
	case apierrors.IsTooManyRequests(err):
		return apierr.Throttled
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return apierr.Denied
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err):
		return apierr.Terminal
	default:
		return apierr.Transient
	}
}

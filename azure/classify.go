package azure

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"salve/internal/apierr"
)

// classify gives an SDK error its class. What can't be told apart is Transient:
// the change may have happened.
func classify(err error) error {
	var classed *apierr.Error
	var response *azcore.ResponseError
	var unauthenticated *azidentity.AuthenticationFailedError
	var withoutCredential interface {
		error
		NonRetriable()
	}
	switch {
	case err == nil, errors.As(err, &classed):
		return err
	case errors.As(err, &response):
		return &apierr.Error{Class: classOf(response), RetryAfter: retryAfter(response.RawResponse), Err: &refusal{response}}
	case errors.As(err, &unauthenticated), errors.As(err, &withoutCredential):
		return &apierr.Error{Class: apierr.Denied, Err: err}
	default:
		return &apierr.Error{Class: apierr.Transient, Err: err}
	}
}

// preempted are the codes of an asynchronous operation that another one pushed
// aside: the resource has to be read again.
var preempted = map[string]bool{"OriginalEtagNotExpect": true, "ResourceOperationFailure": true, "OperationPreempted": true}

// busy are codes of a 400 that means "another operation is in progress".
var busy = map[string]bool{"OperationNotAllowed": true, "EtagMismatch": true}

func classOf(response *azcore.ResponseError) apierr.Class {
	switch status := response.StatusCode; {
	case status == http.StatusNotFound:
		return apierr.Missing
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, busy[response.ErrorCode], preempted[response.ErrorCode]:
		return apierr.Conflict
	case status == http.StatusTooManyRequests:
		return apierr.Throttled
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return apierr.Denied
	case status == http.StatusRequestTimeout, status >= 500:
		return apierr.Transient
	default:
		return apierr.Terminal
	}
}

// Code gives ARM's error code, or the empty string when ARM gave none.
func Code(err error) string {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.ErrorCode
	}
	return ""
}

// quota are the codes by which AKS and Compute refuse for lack of quota.
var quota = map[string]bool{
	"ErrCode_InsufficientVCPUQuota": true, "InsufficientVCPUQuota": true,
	"QuotaExceeded": true, "InsufficientQuota": true,
}

// RefusedByQuota tells whether a smaller request might pass.
func RefusedByQuota(err error) bool { return quota[Code(err)] }

// RefusedAccess tells the refusals that clear by themselves while a role
// assignment spreads.
func RefusedAccess(err error) bool {
	code := Code(err)
	return code == "AuthorizationFailed" || code == "LinkedAuthorizationFailed"
}

// retryAfter reads the header in both its forms; a date in the past is zero.
func retryAfter(response *http.Response) time.Duration {
	if response == nil {
		return 0
	}
	value := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, at.Sub(sent))
}

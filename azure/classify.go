package azure

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"salve/internal/apierr"
)

// classify gives an SDK error its class. What can't be told apart is Transient:
// the change may have happened.
func classify(err error) error {
	var classed *apierr.Error
	var response *azcore.ResponseError
	switch {
	case err == nil, errors.As(err, &classed):
		return err
	case errors.As(err, &response):
		return &apierr.Error{Class: classOf(response), RetryAfter: retryAfter(response.RawResponse), Err: &refusal{response}}
	default:
		return &apierr.Error{Class: apierr.Transient, Err: err}
	}
}

// isConflict tells the codes, of whatever status, by which another change is in the
// way: the resource has to be read again.
func isConflict(code string) bool {
	switch code {
	// Another operation took this one's place:
	// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/aksoperationpreempted-error
	case "AKSOperationPreempted", "AKSOperationPreemptedByDelete", "OperationPreempted":
		return true
	// The resource changed since it was read: https://github.com/Azure/terraform-azurerm-aks/issues/604 and, inside
	// ResourceOperationFailure, https://github.com/kaito-project/kaito/issues/2075.
	case "EtagMismatch", "OriginalEtagNotExpect", "ResourceOperationFailure":
		return true
	// Another operation is in progress; of an exhausted quota too, which the message alone tells, and no message
	// decides here:
	// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/operationnotallowed-error
	case "OperationNotAllowed":
		return true
	}
	return false
}

func classOf(response *azcore.ResponseError) apierr.Class {
	switch status := response.StatusCode; {
	case status == http.StatusNotFound:
		return classOfNotFound(response)
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, isConflict(response.ErrorCode):
		return apierr.Conflict
	case status == http.StatusTooManyRequests:
		return apierr.Throttled
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return apierr.Denied
	case status == http.StatusNotImplemented:
		return apierr.Terminal // asking again changes nothing
	case status == http.StatusRequestTimeout, status >= 500:
		return apierr.Transient
	default:
		return apierr.Terminal
	}
}

// classOfNotFound is never Missing: see absence.go. That the thing can't be seen is
// class Denied. A change whose 404 isn't ARM's may have happened all the same.
func classOfNotFound(response *azcore.ResponseError) apierr.Class {
	raw := response.RawResponse
	if response.ErrorCode == "" && raw != nil && raw.Request != nil {
		if method := raw.Request.Method; method != http.MethodGet && method != http.MethodHead {
			return apierr.Transient
		}
	}
	return apierr.Denied
}

// Code gives ARM's error code, or the empty string when ARM gave none.
func Code(err error) string {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.ErrorCode
	}
	return ""
}

// RefusedByQuota tells whether AKS or Compute refused for lack of quota, so that a
// smaller request might pass:
// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/quota-exceeded-error
func RefusedByQuota(err error) bool {
	switch Code(err) {
	case "ErrCode_InsufficientVCPUQuota", "InsufficientVCPUQuota", "QuotaExceeded", "InsufficientQuota":
		return true
	}
	return false
}

// DrainBlocked tells whether AKS failed to delete a pool because it could not drain it, as
// when a PodDisruptionBudget does not let a pod go. The code is that of the operation, or
// within its message: https://github.com/Azure/AKS/issues/2090,
// https://github.com/hashicorp/terraform-provider-azurerm/issues/10411
func DrainBlocked(err error) bool {
	const code = "PodDrainFailure"
	return err != nil && (Code(err) == code || Code(err) == "DeleteVMSSAgentPoolFailed" && strings.Contains(err.Error(),
		code))
}

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

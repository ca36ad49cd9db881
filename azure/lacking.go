package azure

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
)

// lacking are the codes by which ARM says that something isn't there that a request names, or a template refers to. The
// sources are those of absence.go. A subscription is not among them: no deployment makes one.
//
//nolint:gochecknoglobals // a table that nobody writes to
var lacking = []string{"ResourceNotFound", "NotFound", "ResourceGroupNotFound", "ParentResourceNotFound"}

// LacksResource tells whether ARM refused because something isn't there, or can't be seen by who asks, and for nothing
// else. It is no proof of absence: see absence.go. Previews ask it, where what lacks may yet be made.
func LacksResource(err error) bool {
	var predicted *predictionError
	if errors.As(err, &predicted) {
		return predicted.lacks(0)
	}
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		return false
	}
	told := failure{Code: response.ErrorCode}
	if isWrapper(told.Code) && response.RawResponse != nil {
		raw, err := runtime.Payload(response.RawResponse)
		if err != nil {
			return false
		}
		var body struct{ Error failure }
		if json.Unmarshal(raw, &body) != nil {
			return false
		}
		told = body.Error
	}
	return told.lacks(0)
}

// lacks tells whether all errors at the ends say that something isn't there.
func (f *failure) lacks(depth int) bool {
	if len(f.Details) > 0 && depth < depthLimit {
		return !slices.ContainsFunc(f.Details, func(below failure) bool { return !below.lacks(depth + 1) })
	}
	var nested struct{ Error *failure }
	if depth < depthLimit && json.Unmarshal([]byte(f.Message), &nested) == nil && nested.Error != nil {
		return nested.Error.lacks(depth + 1)
	}
	return slices.Contains(lacking, f.Code)
}

// predictionError is why ARM could predict nothing.
type predictionError struct{ failure }

func (e *predictionError) Error() string { return e.causes(0) }

// failureOf is an error of the SDK's own shape.
func failureOf(told *armresources.ErrorResponse) failure {
	f := failure{Code: value(told.Code), Message: value(told.Message)}
	for _, below := range told.Details {
		if below != nil {
			f.Details = append(f.Details, failureOf(below))
		}
	}
	return f
}

package azure

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// refusal words ARM's answer in one line, where the SDK would dump the whole
// exchange. The SDK's error stays within reach of errors.As.
type refusal struct{ response *azcore.ResponseError }

func (r *refusal) Unwrap() error { return r.response }

func (r *refusal) Error() string {
	code := r.response.ErrorCode
	if code == "" {
		code = "no error code"
	}
	said := fmt.Sprintf("ARM answered %d %s", r.response.StatusCode, code)
	if r.response.StatusCode < 300 {
		said = "ARM's operation ended with " + code // its status answers 200
	}
	if message := r.message(); message != "" {
		said += ": " + message
	}
	return said
}

// message is what ARM's body says, in either of its two shapes.
func (r *refusal) message() string {
	if r.response.RawResponse == nil {
		return ""
	}
	raw, err := runtime.Payload(r.response.RawResponse)
	if err != nil {
		return ""
	}
	type said struct{ Message string }
	var body struct {
		Error said
		said
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	if body.Error.Message != "" {
		return strings.Join(strings.Fields(body.Error.Message), " ")
	}
	return strings.Join(strings.Fields(body.Message), " ")
}

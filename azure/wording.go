package azure

import (
	"encoding/json"
	"fmt"
	"slices"
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
	var body struct {
		Error said
		said
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	if body.Error.Message == "" {
		body.Error = body.said
	}
	if covers[body.Error.Code] && len(body.Error.Details) > 0 {
		return body.Error.innermost()
	}
	return line(body.Error.Message)
}

// said is an error in ARM's words.
type said struct {
	Code    string
	Message string
	Details []said
}

// covers are the codes of errors that only say that there are others below them.
var covers = map[string]bool{"DeploymentFailed": true, "InvalidTemplateDeployment": true, "MultipleErrorsOccurred": true, "ResourceDeploymentFailure": true}

// innermost gives the errors that have none below them: the causes. A resource
// provider's own is often a text of JSON within ARM's message.
func (s *said) innermost() string {
	if len(s.Details) > 0 {
		var causes []string
		for _, below := range s.Details {
			if cause := below.innermost(); !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
		return strings.Join(causes, "; ")
	}
	var nested struct{ Error *said }
	if json.Unmarshal([]byte(s.Message), &nested) == nil && nested.Error != nil {
		return nested.Error.innermost()
	}
	return strings.TrimSuffix(s.Code+": "+line(s.Message), ": ")
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

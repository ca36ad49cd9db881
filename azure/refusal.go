package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

const (
	// textLimit bounds what an error quotes of an answer, in runes.
	textLimit = 2000
	// nameLimit bounds a name, a URL or a code in an error, in runes.
	nameLimit = 300
	// depthLimit bounds how deep causes are looked for: an error is often a text of
	// JSON within another error's message.
	depthLimit = 8
)

// refusal words ARM's answer in one line, where the SDK would dump the whole
// exchange. The SDK's error stays within reach of errors.As. Nothing is decided on
// the text.
type refusal struct{ response *azcore.ResponseError }

func (r *refusal) Unwrap() error { return r.response }

func (r *refusal) Error() string {
	code := r.response.ErrorCode
	if code == "" {
		code = "no error code"
	}
	message := r.message()
	text := fmt.Sprintf("ARM answered %d %s", r.response.StatusCode, short(code))
	if r.response.StatusCode == http.StatusForbidden {
		if worded := forbidden(message); worded != "" {
			return worded
		}
		if RefusedAccess(r.response) {
			return forbiddenRequest(r.response.RawResponse, code, message)
		}
		text = "forbidden: " + text
	}
	if r.response.StatusCode == http.StatusUnauthorized { // nobody knows who asks: no role would help
		if message != "" {
			text += ": " + message
		}
		return "unauthorized: " + text + ". hint: az login; az account show"
	}
	if r.response.StatusCode < 300 {
		text = "ARM's operation ended with " + short(code) // its status answers 200
	}
	if message != "" {
		text += ": " + message
	}
	return text + notFoundHint(r.response)
}

// notFoundHint says what a 404 that names no resource most often comes from.
func notFoundHint(response *azcore.ResponseError) string {
	if response.StatusCode != http.StatusNotFound {
		return ""
	}
	switch response.ErrorCode {
	case "SubscriptionNotFound", "InvalidSubscriptionId":
		return " hint: wrong --cloud, tenant or subscription? az account list --all"
	case "ResourceGroupNotFound":
		return " hint: az group list"
	case "":
		return " hint: the answer is not ARM's; is a proxy in between?"
	}
	return ""
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
		Error failure
		failure
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	if body.Error.Message == "" {
		body.Error = body.failure
	}
	if isWrapper(body.Error.Code) && len(body.Error.Details) > 0 {
		return body.Error.causes(0)
	}
	return line(body.Error.Message)
}

// failure is an error as ARM writes it.
type failure struct {
	Code    string
	Message string
	Details []failure
}

// isWrapper tells the codes of errors that only say that there are others below them.
func isWrapper(code string) bool {
	switch code {
	case "DeploymentFailed", "InvalidTemplateDeployment", "MultipleErrorsOccurred", "ResourceDeploymentFailure":
		return true
	}
	return false
}

// causes gives the errors that have none below them. A resource provider's own is
// often a text of JSON within ARM's message.
func (f *failure) causes(depth int) string {
	if len(f.Details) > 0 && depth < depthLimit {
		var causes []string
		for _, below := range f.Details {
			if cause := below.causes(depth + 1); !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
		return line(strings.Join(causes, "; "))
	}
	var nested struct{ Error *failure }
	if depth < depthLimit && json.Unmarshal([]byte(f.Message), &nested) == nil && nested.Error != nil {
		return nested.Error.causes(depth + 1)
	}
	return strings.TrimSuffix(short(f.Code)+": "+line(f.Message), ": ")
}

// line makes one bounded line of a text, without what a terminal would obey.
func line(text string) string { return bound(text, textLimit) }

// short makes one short line of a name.
func short(text string) string { return bound(text, nameLimit) }

// OneLine is a text as messages of ARM are given: in one line, of characters that can be
// printed.
func OneLine(text string) string {
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}

func bound(text string, limit int) string {
	if most := 4 * limit; len(text) > 2*most {
		text = text[:2*most] // the rest would be cut below
	}
	runes := []rune(OneLine(text))
	if len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return string(runes)
}

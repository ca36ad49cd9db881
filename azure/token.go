package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"salve/internal/apierr"
)

// tokenLimit bounds a resume token: the SDK's have a few kilobytes.
const tokenLimit = 16 << 10

// Token is what it takes to go on polling an operation in another process. It comes
// back from a record: what it says is checked against the operation that is asked for.
type Token struct {
	Kind Kind `json:"kind"`
	// Resource is the ID of what the operation changes.
	Resource string `json:"resource"`
	Resume   string `json:"resume"`
	// Began is when the operation was started, for the polling schedule.
	Began time.Time `json:"began"`
}

// sdkToken is the SDK's resume token
// (https://github.com/Azure/azure-sdk-for-go/blob/main/sdk/azcore/internal/pollers/util.go).
type sdkToken struct {
	Type  string    `json:"type"`
	Token sdkPoller `json:"token"`
}

// sdkPoller has the fields of the SDK's pollers: "async" for Azure-AsyncOperation,
// "loc" for Location, "body" for a resource that tells its own state
// (https://github.com/Azure/azure-sdk-for-go/tree/main/sdk/azcore/internal/pollers).
type sdkPoller struct {
	Type       string `json:"type,omitempty"`
	AsyncURL   string `json:"asyncURL,omitempty"`
	PollURL    string `json:"pollURL,omitempty"`
	LocURL     string `json:"locURL,omitempty"`
	OrigURL    string `json:"origURL,omitempty"`
	Method     string `json:"method,omitempty"`
	FinalState string `json:"finalState,omitempty"`
	State      string `json:"state"`
}

// startedBy gives the method by which operations of a kind are started, and what
// follows the resource's ID in their URL.
func startedBy(kind Kind) (method, suffix string, known bool) {
	switch kind {
	case putPool, putDeployment:
		return http.MethodPut, "", true
	case deletePool:
		return http.MethodDelete, "", true
	case abortCluster:
		return http.MethodPost, "/abort", true
	default: // what-if is started again, never resumed
		return "", "", false
	}
}

// checked decodes a token for an operation on a resource, and gives the SDK's token
// written anew from what was checked: the SDK would take more fields than these.
func (c *Client) checked(token Token, resource string) (string, error) {
	method, suffix, known := startedBy(token.Kind)
	switch {
	case !known:
		return "", fmt.Errorf("unknown kind %q", short(string(token.Kind)))
	case !SameID(token.Resource, resource):
		return "", fmt.Errorf("token is of %q, not of %q", short(token.Resource), resource)
	case !within(resource, SubscriptionScope(c.subscription)):
		return "", fmt.Errorf("resource %q is not in subscription %q", short(resource), c.subscription)
	case len(token.Resume) > tokenLimit:
		return "", fmt.Errorf("token is larger than %d bytes", tokenLimit)
	}
	var decoded sdkToken
	decoder := json.NewDecoder(strings.NewReader(token.Resume))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&decoded); err != nil {
		return "", fmt.Errorf("token is not one of the SDK's: %w", err)
	}
	poller := decoded.Token
	switch strings.ToLower(poller.State) {
	case "succeeded", "failed", "canceled", "cancelled":
		return "", fmt.Errorf("token of an operation that is over") // it has no answer: the SDK would panic
	}
	if (poller.AsyncURL == "") == (poller.PollURL == "") {
		return "", fmt.Errorf("token has no polling URL, or two")
	}
	for _, text := range []string{poller.AsyncURL, poller.PollURL, poller.LocURL, poller.OrigURL} {
		if err := c.checkOperationURL(text); err != nil {
			return "", err
		}
	}
	if poller.OrigURL != "" {
		original, err := url.Parse(poller.OrigURL)
		if err != nil || !SameID(original.Path, c.root()+resource+suffix) || poller.Method != method {
			return "", fmt.Errorf("token is of %s %q, not of %q", short(poller.Method), short(poller.OrigURL), resource)
		}
	}
	written, err := json.Marshal(decoded)
	return string(written), err
}

// root is the path of the ARM endpoint, which an ARM behind a gateway may have.
func (c *Client) root() string { return strings.TrimRight(c.endpoint.Path, "/") }

// checkOperationURL tells whether a URL is ARM's and in this subscription, as those of
// all operations are; the empty text is none.
func (c *Client) checkOperationURL(text string) error {
	if text == "" {
		return nil
	}
	target, err := url.Parse(text)
	if err != nil {
		return apierr.New(apierr.Terminal, "operation URL %q is none", short(text))
	}
	if err := atEndpoint(c.endpoint, target); err != nil {
		return err
	}
	if !within(target.Path, c.root()+SubscriptionScope(c.subscription)) {
		return apierr.New(apierr.Terminal, "operation URL %q is not in subscription %q", short(target.Path), c.subscription)
	}
	return nil
}

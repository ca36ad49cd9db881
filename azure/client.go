package azure

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"salve/internal/backoff"
	"salve/internal/clock"
)

// Options say how to reach ARM.
type Options struct {
	Subscription string
	Credential   azcore.TokenCredential
	// Cloud is the public one when empty.
	Cloud cloud.Configuration
	// Transport sends the requests; nil is one of the client's own. It may not follow
	// redirects.
	Transport http.RoundTripper
	Clock     clock.Clock
}

// Client speaks to ARM for one subscription. It is safe for concurrent use.
type Client struct {
	subscription string
	clock        clock.Clock
	credential   azcore.TokenCredential
	options      *arm.ClientOptions
	arm          *arm.Client
	// endpoint is ARM's: nothing else gets the token.
	endpoint *url.URL
}

// New makes a client. It makes no call.
func New(options Options) (*Client, error) {
	endpoint, err := endpointOf(options.Cloud)
	if err != nil {
		return nil, err
	}
	base := options.Transport
	if base == nil {
		base = defaultTransport()
	}
	armOptions := &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud:           options.Cloud,
			Transport:       newTransport(base, endpoint),
			PerCallPolicies: []policy.Policy{pin{endpoint}},
			// Retries are ours: they wait on the injected clock, and a change is
			// never repeated behind the journal's back.
			Retry:     policy.RetryOptions{MaxRetries: -1},
			Telemetry: policy.TelemetryOptions{ApplicationID: "salve"},
		},
		// The SDK would otherwise register resource providers: a change that no
		// permit covers.
		DisableRPRegistration: true,
	}
	credential := Credential(options.Credential, nil)
	client, err := arm.NewClient("salve/azure", "v1.0.0", credential, armOptions)
	if err != nil {
		return nil, fmt.Errorf("making the ARM client: %w", err)
	}
	return &Client{
		subscription: options.Subscription, clock: options.Clock, endpoint: endpoint,
		credential: credential, options: armOptions, arm: client,
	}, nil
}

// endpointOf is the address of a cloud's ARM.
func endpointOf(where cloud.Configuration) (*url.URL, error) {
	if where.Services == nil {
		where = cloud.AzurePublic
	}
	endpoint, err := url.Parse(where.Services[cloud.ResourceManager].Endpoint)
	if err != nil || endpoint.Scheme != "https" || endpoint.Hostname() == "" || endpoint.User != nil {
		return nil, fmt.Errorf("ARM endpoint %q: not a URL that begins with https://",
			where.Services[cloud.ResourceManager].Endpoint)
	}
	return endpoint, nil
}

// read does a read, and repeats it while the service stumbles or throttles.
func (c *Client) read(ctx context.Context, doing string, call func(context.Context) error) error {
	err := backoff.Retry(ctx, c.clock, func(ctx context.Context) error { return classify(call(ctx)) })
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// change sends one change, once. The transport asks for the permit in the context.
func (c *Client) change(ctx context.Context, doing string, call func(context.Context) error) error {
	if err := backoff.Once(ctx, c.clock, call); err != nil {
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	return nil
}

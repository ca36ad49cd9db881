package azure

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

// Options say how to reach ARM.
type Options struct {
	Subscription string
	Credential   azcore.TokenCredential
	// Cloud is the public one when empty.
	Cloud cloud.Configuration
	// Transport is the SDK's own when nil.
	Transport policy.Transporter
	Clock     clock.Clock
}

// Client speaks to ARM for one subscription. It is safe for concurrent use.
type Client struct {
	subscription string
	clock        clock.Clock
	credential   azcore.TokenCredential
	options      *arm.ClientOptions
	arm          *arm.Client
}

// New makes a client. It makes no call.
func New(options Options) (*Client, error) {
	armOptions := &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud:     options.Cloud,
			Transport: options.Transport,
			// Retries are ours: they wait on the injected clock, and a change is
			// never repeated behind the journal's back.
			Retry:     policy.RetryOptions{MaxRetries: -1},
			Telemetry: policy.TelemetryOptions{ApplicationID: "salve"},
		},
		// The SDK would otherwise register resource providers: a change that no
		// permit covers.
		DisableRPRegistration: true,
	}
	client, err := arm.NewClient("salve/azure", "v1.0.0", options.Credential, armOptions)
	if err != nil {
		return nil, fmt.Errorf("making the ARM client: %w", err)
	}
	return &Client{
		subscription: options.Subscription, clock: options.Clock,
		credential: options.Credential, options: armOptions, arm: client,
	}, nil
}

// read does a read, and repeats it while the service stumbles or throttles.
func (c *Client) read(ctx context.Context, what string, call func(context.Context) error) error {
	err := backoff.Retry(ctx, c.clock, func(ctx context.Context) error { return classify(call(ctx)) })
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// change sends one change under a permit. The permit's ID travels as the
// client's request ID, so that ARM's own log leads back to the journal.
func (c *Client) change(ctx context.Context, what string, call func(context.Context) error) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	header := http.Header{"X-Ms-Client-Request-Id": {runbook.PermitFrom(ctx).ID()}}
	if err := backoff.Once(policy.WithHTTPHeader(ctx, header), c.clock, call); err != nil {
		return fmt.Errorf("%s: %w", what, classify(err))
	}
	return nil
}

// SameID compares ARM resource IDs: without case, because AKS writes parts of
// them in either.
func SameID(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// ClusterID is the resource ID of a managed cluster.
func ClusterID(subscription, resourceGroup, cluster string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s",
		subscription, resourceGroup, cluster)
}

// PoolID is the resource ID of an agent pool.
func PoolID(clusterID, pool string) string { return clusterID + "/agentPools/" + pool }

package azure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"salve/internal/apierr"
)

// aksVersion is the api-version of agent pools written raw; the SDK's models
// that read them are of the same one.
const aksVersion = "2025-02-01"

// PoolName names an agent pool.
type PoolName struct{ ResourceGroup, Cluster, Pool string }

func (c *Client) agentPools() (*armcontainerservice.AgentPoolsClient, error) {
	return armcontainerservice.NewAgentPoolsClient(c.subscription, c.credential, c.options)
}

func (c *Client) poolID(name PoolName) string {
	return PoolID(ClusterID(c.subscription, name.ResourceGroup, name.Cluster), name.Pool)
}

// Definition reads an agent pool whole. One that isn't there is class Missing: its
// own answer says so, and the cluster, which was seen, does not list it.
func (c *Client) Definition(ctx context.Context, name PoolName) (Definition, error) {
	var body Definition
	err := c.read(ctx, fmt.Sprintf("reading pool %q", name.Pool), func(ctx context.Context) (err error) {
		body, err = c.definitionOnce(ctx, name)
		if isNotFound(err, resourceNotFound) {
			return c.poolAbsent(ctx, name, classify(err))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// definitionOnce reads an agent pool in one request.
func (c *Client) definitionOnce(ctx context.Context, name PoolName) (Definition, error) {
	pools, err := c.agentPools()
	if err != nil {
		return nil, err
	}
	var raw *http.Response
	_, err = pools.Get(policy.WithCaptureResponse(ctx, &raw), name.ResourceGroup, name.Cluster, name.Pool, nil)
	if err != nil {
		return nil, err
	}
	body, err := runtime.Payload(raw)
	if err != nil {
		return nil, err
	}
	var said identity
	if err := json.Unmarshal(body, &said); err != nil {
		return nil, apierr.New(apierr.Terminal, "answer is not JSON: %w", err)
	}
	if err := said.check(poolType, c.poolID(name)); err != nil {
		return nil, err
	}
	return body, nil
}

// poolAbsent asks the cluster about a pool that answered 404. While the cluster
// still lists it the error is class Transient: it is asked for again.
func (c *Client) poolAbsent(ctx context.Context, name PoolName, cause error) error {
	cluster, err := c.clusterOnce(ctx, name.ResourceGroup, name.Cluster)
	_, listed := cluster.Pool(name.Pool)
	return absentUnless(c.poolID(name), cause, listed, classify(err))
}

// CreatePool creates an agent pool; it fails with class Conflict when there is
// one of that name.
func (c *Client) CreatePool(ctx context.Context, name PoolName, body Definition) (*Operation, error) {
	return c.put(ctx, name, body, "If-None-Match", "*")
}

// UpdatePool replaces the definition of the agent pool that was read with an
// ETag; it fails with class Conflict when somebody changed it since.
func (c *Client) UpdatePool(ctx context.Context, name PoolName, body Definition, etag string) (*Operation, error) {
	return c.put(ctx, name, body, "If-Match", etag)
}

// put writes the raw body: the SDK's typed client would drop what its models
// don't know.
func (c *Client) put(ctx context.Context, name PoolName, body Definition, condition, etag string) (*Operation, error) {
	if etag == "" {
		return nil, apierr.New(apierr.Terminal, "writing pool %q: no ETag to match", name.Pool)
	}
	var operation *Operation
	err := c.change(ctx, fmt.Sprintf("writing pool %q", name.Pool), func(ctx context.Context) error {
		request, err := runtime.NewRequest(ctx, http.MethodPut, c.address(c.poolID(name), aksVersion, nil))
		if err != nil {
			return err
		}
		request.Raw().Header.Set("Accept", "application/json")
		request.Raw().Header.Set(condition, etag)
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json"); err != nil {
			return err
		}
		response, err := c.arm.Pipeline().Do(request)
		if err != nil {
			return err
		}
		if !runtime.HasStatusCode(response, http.StatusOK, http.StatusCreated) {
			return runtime.NewResponseError(response)
		}
		poller, err := runtime.NewPoller[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse](
			response, c.arm.Pipeline(), nil)
		if err != nil {
			return err
		}
		operation = c.operation(putPool, c.poolID(name), untyped(poller))
		return nil
	})
	return operation, err
}

// DeletePoolOptions say how a pool is deleted.
type DeletePoolOptions struct {
	// IgnoreBudgets has AKS delete pods whose PodDisruptionBudget does not allow their
	// eviction. Without it AKS drains the pool and fails when a budget blocks:
	// https://learn.microsoft.com/azure/aks/delete-node-pool
	IgnoreBudgets bool
}

// DeletePool deletes the agent pool that was read with an ETag. A pool that was
// deleted since, as its cluster confirms, is class Missing.
func (c *Client) DeletePool(
	ctx context.Context, name PoolName, etag string, options DeletePoolOptions,
) (*Operation, error) {
	if etag == "" {
		return nil, apierr.New(apierr.Terminal, "deleting pool %q: no ETag to match", name.Pool)
	}
	pools, err := c.agentPools()
	if err != nil {
		return nil, err
	}
	var operation *Operation
	err = c.change(ctx, fmt.Sprintf("deleting pool %q", name.Pool), func(ctx context.Context) error {
		asked := &armcontainerservice.AgentPoolsClientBeginDeleteOptions{IfMatch: &etag}
		if options.IgnoreBudgets {
			asked.IgnorePodDisruptionBudget = &options.IgnoreBudgets
		}
		poller, err := pools.BeginDelete(ctx, name.ResourceGroup, name.Cluster, name.Pool, asked)
		if err != nil {
			return err
		}
		operation = c.operation(deletePool, c.poolID(name), untyped(poller))
		return nil
	})
	if isNotFound(err, resourceNotFound) {
		cause := err
		err = c.read(ctx, fmt.Sprintf("deleting pool %q", name.Pool), func(ctx context.Context) error {
			return c.poolAbsent(ctx, name, cause)
		})
	}
	return operation, err
}

package azure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"salve/internal/apierr"
)

// Cluster is one reading of a managed cluster. ARM answers cluster and pools,
// with their states and ETags, in a single call.
type Cluster struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	ETag string `json:"etag"`
	// State is the provisioningState; empty when ARM gave none.
	State string `json:"state"`
	// Version is the control plane's current Kubernetes version.
	Version           string `json:"version"`
	NodeResourceGroup string `json:"nodeResourceGroup"`
	Pools             []Pool `json:"pools"`
	// Hosts are the names of the cluster's API server.
	Hosts []string `json:"hosts"`
	// Seen is when the answer came.
	Seen time.Time `json:"seen"`
}

// Pool is what the cluster's answer says of an agent pool.
type Pool struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	ETag   string `json:"etag"`
	Mode   string `json:"mode"`
	OSType string `json:"osType"`
	// Count is how many nodes the pool should have.
	Count int `json:"count"`
	// MinCount is how few it may have: the autoscaler's minimum where that runs the pool.
	MinCount int               `json:"minCount"`
	Tags     map[string]string `json:"tags"`
	Labels   map[string]string `json:"labels"`
}

// Pool finds a pool by name.
func (c Cluster) Pool(name string) (Pool, bool) {
	for _, pool := range c.Pools {
		if pool.Name == name {
			return pool, true
		}
	}
	return Pool{}, false
}

func (c *Client) managedClusters() (*armcontainerservice.ManagedClustersClient, error) {
	return armcontainerservice.NewManagedClustersClient(c.subscription, c.credential, c.options)
}

// Cluster reads a managed cluster. One that isn't there, in a resource group that
// was seen, is class Missing.
func (c *Client) Cluster(ctx context.Context, resourceGroup, name string) (Cluster, error) {
	var cluster Cluster
	err := c.read(ctx, fmt.Sprintf("reading cluster %q", name), func(ctx context.Context) (err error) {
		cluster, err = c.clusterOnce(ctx, resourceGroup, name)
		return err
	})
	if isNotFound(err, resourceNotFound) {
		err = c.clusterAbsent(ctx, resourceGroup, name, err)
	}
	if err != nil {
		return Cluster{}, err
	}
	return cluster, nil
}

// clusterOnce reads a managed cluster in one request.
func (c *Client) clusterOnce(ctx context.Context, resourceGroup, name string) (Cluster, error) {
	clusters, err := c.managedClusters()
	if err != nil {
		return Cluster{}, err
	}
	answer, err := clusters.Get(ctx, resourceGroup, name, nil)
	if err != nil {
		return Cluster{}, err
	}
	said := identity{ID: value(answer.ID), Name: value(answer.Name), Type: value(answer.Type)}
	if err := said.check(clusterType, ClusterID(c.subscription, resourceGroup, name)); err != nil {
		return Cluster{}, err
	}
	if answer.Properties == nil {
		return Cluster{}, apierr.New(apierr.Terminal, "reading cluster %q: the answer has no properties", name)
	}
	cluster := Cluster{
		ID: said.ID, Name: name, ETag: value(answer.ETag), State: value(answer.Properties.ProvisioningState),
		Version:           value(answer.Properties.CurrentKubernetesVersion),
		NodeResourceGroup: value(answer.Properties.NodeResourceGroup),
		Hosts:             hostsOf(answer.Properties), Seen: c.clock.Now(),
	}
	for _, profile := range answer.Properties.AgentPoolProfiles {
		if profile == nil || value(profile.Name) == "" {
			return Cluster{}, apierr.New(apierr.Terminal, "reading cluster %q: the answer has a pool without a name", name)
		}
		if _, twice := cluster.Pool(*profile.Name); twice {
			return Cluster{}, apierr.New(apierr.Terminal, "reading cluster %q: duplicate pool %q in the answer",
				name, short(*profile.Name))
		}
		cluster.Pools = append(cluster.Pools, poolOf(profile))
	}
	return cluster, nil
}

// hostsOf are the names under which a cluster's API server is reached.
func hostsOf(properties *armcontainerservice.ManagedClusterProperties) []string {
	hosts := []string{value(properties.Fqdn), value(properties.PrivateFQDN), value(properties.AzurePortalFQDN)}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}

func poolOf(profile *armcontainerservice.ManagedClusterAgentPoolProfile) Pool {
	pool := Pool{
		Name: value(profile.Name), State: value(profile.ProvisioningState), ETag: value(profile.ETag),
		Mode: string(value(profile.Mode)), OSType: string(value(profile.OSType)), Count: int(value(profile.Count)),
		Tags: values(profile.Tags), Labels: values(profile.NodeLabels),
	}
	pool.MinCount = minCount(pool.Count, profile.EnableAutoScaling, profile.MinCount)
	return pool
}

func minCount(count int, autoscaled *bool, least *int32) int {
	if value(autoscaled) && least != nil {
		return int(*least)
	}
	return count
}

// AbortCluster aborts the latest operation of a cluster.
func (c *Client) AbortCluster(ctx context.Context, resourceGroup, name string) (*Operation, error) {
	clusters, err := c.managedClusters()
	if err != nil {
		return nil, err
	}
	var operation *Operation
	err = c.change(ctx, fmt.Sprintf("aborting the operation of cluster %q", name), func(ctx context.Context) error {
		poller, err := clusters.BeginAbortLatestOperation(ctx, resourceGroup, name, nil)
		if err != nil {
			return err
		}
		operation = c.operation(abortCluster, ClusterID(c.subscription, resourceGroup, name), untyped(poller))
		return nil
	})
	return operation, err
}

// MergeTag sets one tag of a resource and leaves the others. On a cluster it is
// the smallest change that makes AKS reconcile it.
func (c *Client) MergeTag(ctx context.Context, scope, tag, text string) error {
	tags, err := armresources.NewTagsClient(c.subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	patch := armresources.TagsPatchResource{
		Operation:  to.Ptr(armresources.TagsPatchOperationMerge),
		Properties: &armresources.Tags{Tags: map[string]*string{tag: &text}},
	}
	return c.change(ctx, "merging a tag into "+scope, func(ctx context.Context) error {
		_, err := tags.UpdateAtScope(ctx, scope, patch, nil)
		return err
	})
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}

func values(pointers map[string]*string) map[string]string {
	plain := make(map[string]string, len(pointers))
	for key, pointer := range pointers {
		plain[key] = value(pointer)
	}
	return plain
}

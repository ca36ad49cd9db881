package azure

import (
	"context"
	"fmt"
	"strings"
)

// ClusterNames are the names of the clusters in a resource group, for who misspelt one.
func (c *Client) ClusterNames(ctx context.Context, resourceGroup string) ([]string, error) {
	clusters := strings.TrimSuffix(ClusterID(c.subscription, resourceGroup, "-"), "/-")
	return c.names(ctx, fmt.Sprintf("listing the clusters of resource group %q", resourceGroup),
		c.address(clusters, aksVersion, nil))
}

// GroupNames are the names of the subscription's resource groups, for who misspelt one.
func (c *Client) GroupNames(ctx context.Context) ([]string, error) {
	groups := strings.TrimSuffix(GroupID(c.subscription, "-"), "/-")
	return c.names(ctx, "listing the resource groups", c.address(groups, groupsVersion, nil))
}

func (c *Client) names(ctx context.Context, doing, address string) (names []string, err error) {
	err = list(ctx, c, doing, address, func(one identity) (bool, error) {
		names = append(names, one.ID[strings.LastIndexByte(one.ID, '/')+1:])
		return true, nil
	})
	return names, err
}

// IsGroupNotFound tells whether ARM said that the resource group of what was asked for does not exist.
func IsGroupNotFound(err error) bool { return isNotFound(err, groupNotFound) }

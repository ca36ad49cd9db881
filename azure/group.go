package azure

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// groupName is ARM's rule for names of resource groups, the dot at the end aside:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftresources
var groupName = regexp.MustCompile(`^[-\w.()]{1,90}$`)

// IsGroupName tells whether a resource group can be called so.
func IsGroupName(name string) bool {
	return groupName.MatchString(name) && !strings.HasSuffix(name, ".")
}

// CreateGroup makes a resource group. Of one that is there ARM would replace the tags: ask first.
func (c *Client) CreateGroup(ctx context.Context, name, location string, tags map[string]string) error {
	body := map[string]any{"location": location, "tags": tags}
	return c.change(ctx, fmt.Sprintf("creating resource group %q", name), func(ctx context.Context) error {
		return c.send(ctx, http.MethodPut, c.address(GroupID(c.subscription, name), groupsVersion, nil), body)
	})
}

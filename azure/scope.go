package azure

import (
	"context"
	"fmt"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions"

	"salve/internal/apierr"
)

// GroupLocation gives the location of a resource group. One that isn't there is
// class Missing.
func (c *Client) GroupLocation(ctx context.Context, name string) (string, error) {
	groups, err := armresources.NewResourceGroupsClient(c.subscription, c.credential, c.options)
	if err != nil {
		return "", err
	}
	var answer armresources.ResourceGroupsClientGetResponse
	err = c.read(ctx, fmt.Sprintf("reading resource group %q", name), func(ctx context.Context) error {
		answer, err = groups.Get(ctx, name, nil)
		return err
	})
	if err != nil {
		return "", err
	}
	return value(answer.Location), nil
}

var subscriptionID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsSubscriptionID tells whether a text is the ID of a subscription rather than its
// name.
func IsSubscriptionID(text string) bool { return subscriptionID.MatchString(text) }

// SubscriptionID finds the subscription of a display name among those that the
// credential can see. None, or more than one, is class Missing or Conflict.
func (c *Client) SubscriptionID(ctx context.Context, name string) (string, error) {
	subscriptions, err := armsubscriptions.NewClient(c.credential, c.options)
	if err != nil {
		return "", err
	}
	var found []string
	begin := func() *runtime.Pager[armsubscriptions.ClientListResponse] { return subscriptions.NewListPager(nil) }
	link := func(page armsubscriptions.ClientListResponse) *string { return page.NextLink }
	err = pages(ctx, c, "listing subscriptions", begin, link, func(page armsubscriptions.ClientListResponse) bool {
		for _, one := range page.Value {
			if value(one.DisplayName) == name {
				found = append(found, value(one.SubscriptionID))
			}
		}
		return true
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", apierr.New(apierr.Missing, "none of the subscriptions that can be seen is called %q", name)
	case len(found) > 1:
		return "", apierr.New(apierr.Conflict, "%d subscriptions are called %q: %v; name the one that is meant by its ID", len(found), name, found)
	}
	return found[0], nil
}

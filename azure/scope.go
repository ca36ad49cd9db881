package azure

import (
	"context"
	"fmt"
	"regexp"

	"salve/internal/apierr"
)

const (
	// https://learn.microsoft.com/rest/api/resources/resource-groups/get
	groupsVersion = "2024-03-01"
	// https://learn.microsoft.com/rest/api/resources/subscriptions/list
	subscriptionsVersion = "2022-12-01"
)

// GroupLocation gives the location of a resource group. One that isn't there, in a
// subscription that was seen, is class Missing.
func (c *Client) GroupLocation(ctx context.Context, name string) (string, error) {
	id, doing := GroupID(c.subscription, name), fmt.Sprintf("reading resource group %q", name)
	var answer struct {
		ID       string `json:"id"`
		Location string `json:"location"`
	}
	err := c.read(ctx, doing, func(ctx context.Context) error {
		return c.get(ctx, c.address(id, groupsVersion, nil), &answer)
	})
	switch {
	case isNotFound(err, groupNotFound):
		return "", absentUnless(id, err, false, c.subscriptionSeen(ctx))
	case err != nil:
		return "", err
	case !SameID(answer.ID, id):
		return "", apierr.New(apierr.Terminal, "%s: ARM answered with %q for a request for %q", doing, short(answer.ID), id)
	}
	return answer.Location, nil
}

var subscriptionID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsSubscriptionID tells whether a text is the ID of a subscription rather than its
// name.
func IsSubscriptionID(text string) bool { return subscriptionID.MatchString(text) }

// SubscriptionID finds the subscription of a display name among those that the
// credential can see. None is class Denied, because there may be one that it can't
// see; more than one is class Conflict.
func (c *Client) SubscriptionID(ctx context.Context, name string) (string, error) {
	type item struct {
		SubscriptionID string `json:"subscriptionId"`
		DisplayName    string `json:"displayName"`
	}
	var found []string
	address := c.address("/subscriptions", subscriptionsVersion, nil)
	err := list(ctx, c, "listing subscriptions", address, func(one item) (bool, error) {
		if one.DisplayName == name {
			found = append(found, one.SubscriptionID)
		}
		return true, nil
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", apierr.New(apierr.Denied, "not found: none of the subscriptions that can be seen is called %q. "+
			"hint: az account list", name)
	case len(found) > 1:
		return "", apierr.New(apierr.Conflict, "ambiguous: %d subscriptions are called %q: %q. hint: use the ID",
			len(found), name, found)
	case !IsSubscriptionID(found[0]):
		return "", apierr.New(apierr.Terminal, "subscription %q has an ID that is none: %q", name, short(found[0]))
	}
	return found[0], nil
}

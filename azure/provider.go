package azure

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"salve/internal/apierr"
)

const (
	// https://learn.microsoft.com/rest/api/resources/providers
	providersVersion = "2021-04-01"
	// https://learn.microsoft.com/rest/api/resources/features
	featuresVersion = "2021-07-01"
)

// Registered is ARM's word for a resource provider, or a feature of one, that a subscription may use.
const Registered = "Registered"

var (
	namespace   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)+$`)
	featureName = regexp.MustCompile(`^[A-Za-z0-9][-\w.]{0,127}$`)
)

// IsNamespace tells whether a resource provider can be called so, as Microsoft.Compute.
func IsNamespace(name string) bool { return len(name) <= 128 && namespace.MatchString(name) }

// IsFeatureName tells whether a feature of a provider can be called so.
func IsFeatureName(name string) bool { return featureName.MatchString(name) }

func (c *Client) providerID(name string) string {
	return SubscriptionScope(c.subscription) + "/providers/" + name
}

func (c *Client) featureID(provider, name string) string {
	return c.providerID("Microsoft.Features") + "/providers/" + provider + "/features/" + name
}

// ProviderState is how far a resource provider is registered: NotRegistered, Registering, Registered, Unregistering. A
// namespace that ARM does not have, in a subscription that was seen, is class Missing.
func (c *Client) ProviderState(ctx context.Context, name string) (string, error) {
	id, doing := c.providerID(name), fmt.Sprintf("reading resource provider %q", name)
	var answer struct {
		Namespace string `json:"namespace"`
		State     string `json:"registrationState"`
	}
	err := c.read(ctx, doing, func(ctx context.Context) error {
		return c.get(ctx, c.address(id, providersVersion, nil), &answer)
	})
	switch {
	case isNotFound(err, namespaceNotFound):
		return "", absentUnless(id, err, false, c.subscriptionSeen(ctx))
	case err != nil:
		return "", err
	case !strings.EqualFold(answer.Namespace, name) || answer.State == "":
		return "", apierr.New(apierr.Terminal, "%s: ARM answered with %q in state %q", doing, short(answer.Namespace),
			short(answer.State))
	}
	return short(answer.State), nil
}

// RegisterProvider asks for a provider to be registered. For one that is registered it passes on what has changed of
// its features.
func (c *Client) RegisterProvider(ctx context.Context, name string) error {
	return c.change(ctx, fmt.Sprintf("registering resource provider %q", name), func(ctx context.Context) error {
		return c.send(ctx, http.MethodPost, c.address(c.providerID(name)+"/register", providersVersion, nil), nil)
	})
}

// FeatureState is how far a feature is registered: NotRegistered, Pending (somebody has to approve it), Registering,
// Registered and the like. One that ARM does not have, in a subscription that was seen, is class Missing.
func (c *Client) FeatureState(ctx context.Context, provider, name string) (string, error) {
	id, doing := c.featureID(provider, name), fmt.Sprintf("reading feature %q of %q", name, provider)
	var answer struct {
		Name       string `json:"name"`
		Properties struct {
			State string `json:"state"`
		} `json:"properties"`
	}
	err := c.read(ctx, doing, func(ctx context.Context) error {
		return c.get(ctx, c.address(id, featuresVersion, nil), &answer)
	})
	switch {
	case isNotFound(err, featureNotFound), isNotFound(err, namespaceNotFound):
		return "", absentUnless(id, err, false, c.subscriptionSeen(ctx))
	case err != nil:
		return "", err
	case !strings.EqualFold(answer.Name, provider+"/"+name) || answer.Properties.State == "":
		return "", apierr.New(apierr.Terminal, "%s: ARM answered with %q in state %q", doing, short(answer.Name),
			short(answer.Properties.State))
	}
	return short(answer.Properties.State), nil
}

// RegisterFeature asks for a feature to be registered.
func (c *Client) RegisterFeature(ctx context.Context, provider, name string) error {
	doing := fmt.Sprintf("registering feature %q of %q", name, provider)
	return c.change(ctx, doing, func(ctx context.Context) error {
		return c.send(ctx, http.MethodPost, c.address(c.featureID(provider, name)+"/register", featuresVersion, nil), nil)
	})
}

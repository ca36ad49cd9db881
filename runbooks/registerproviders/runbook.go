package registerproviders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
)

// Name is the runbook's name in journals.
const Name = "register-providers"

// Inputs say for whom something is registered. They are journaled. What is registered isn't among them: a run that
// failed may be resumed with it corrected.
type Inputs struct {
	Subscription string `json:"subscription"`
	// Registration names it, the same each time.
	Registration string `json:"registration"`
}

// Order is what is registered.
type Order struct {
	Providers []Provider
	// Budget bounds the run.
	Budget time.Duration
}

// Provider is a resource provider.
type Provider struct {
	// Namespace is such as Microsoft.Compute.
	Namespace string `json:"namespace"`
	// Wait has the run wait until it is registered. Of one that is not waited for, features are registered only where
	// it is registered already.
	Wait     bool      `json:"wait"`
	Features []Feature `json:"features,omitempty"`
}

// Feature is a preview feature of a resource provider.
type Feature struct {
	Name string `json:"name"`
	Wait bool   `json:"wait"`
}

// Azure is what the runbook asks of it.
type Azure interface {
	ProviderState(ctx context.Context, namespace string) (string, error)
	RegisterProvider(ctx context.Context, namespace string) error
	FeatureState(ctx context.Context, provider, name string) (string, error)
	RegisterFeature(ctx context.Context, provider, name string) error
}

// World is what the runbook acts on.
type World struct {
	Azure Azure
	Clock clock.Clock
}

func (in Inputs) validate() error {
	switch {
	case !azure.IsSubscriptionID(in.Subscription):
		return fmt.Errorf("subscription %q is not the ID of one", in.Subscription)
	case in.Registration == "" || strings.ContainsAny(in.Registration, "/ "):
		return fmt.Errorf("registration %q is no name", in.Registration)
	}
	return nil
}

// Validate finds what nobody could register.
func (o Order) Validate() error {
	if len(o.Providers) == 0 {
		return errors.New("no resource provider is named")
	}
	if o.Budget <= 0 {
		return errors.New("the budget must be above 0")
	}
	seen := map[string]bool{}
	for _, provider := range o.Providers {
		if !azure.IsNamespace(provider.Namespace) {
			return fmt.Errorf("%q is no namespace of a resource provider, such as Microsoft.Compute", provider.Namespace)
		}
		for _, name := range append([]string{""}, names(provider.Features)...) {
			key := strings.ToLower(provider.Namespace + "/" + name)
			switch {
			case seen[key]:
				return fmt.Errorf("%s is named twice", strings.TrimSuffix(provider.Namespace+"/"+name, "/"))
			case name != "" && !azure.IsFeatureName(name):
				return fmt.Errorf("%q is no name of a feature of %s", name, provider.Namespace)
			}
			seen[key] = true
		}
	}
	return nil
}

func names(features []Feature) []string {
	all := make([]string, 0, len(features))
	for _, one := range features {
		all = append(all, one.Name)
	}
	return all
}

// New makes the runbook for what is to be registered.
func New(world World, in Inputs, order Order) (runbook.Runbook, error) {
	if err := errors.Join(in.validate(), order.Validate()); err != nil {
		return runbook.Runbook{}, err
	}
	return (&registration{World: world, Inputs: in, order: order}).book(), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it.
func Replayed(in Inputs, _ runbook.Target) (runbook.Runbook, error) {
	if err := in.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	return (&registration{Inputs: in, order: Order{Budget: time.Hour}}).book(), nil
}

// registration is the runbook at work.
type registration struct {
	World
	Inputs
	order Order
	seen  runbook.Shared[states]
}

func (r *registration) book() runbook.Runbook {
	id := azure.SubscriptionScope(r.Subscription) + "/registrations/" + r.Registration
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: r.Inputs, Budget: r.order.Budget,
		Target: runbook.Target{Kind: "registrations", ID: strings.ToLower(id), Name: r.Registration},
		Guards: []runbook.Guard{r.registrable()},
		Steps:  []runbook.Step{r.registerProviders(), r.registerFeatures(), r.propagate()},
		Checks: []runbook.Guard{r.registered()},
		Remaining: func(func(string) bool) string {
			return "what was registered stays so, and harms nobody"
		},
	}
}

// item is a provider, or a feature of one, with what ARM says of it.
type item struct {
	// Feature is empty for a provider.
	Provider string `json:"provider"`
	Feature  string `json:"feature,omitempty"`
	// State is empty where ARM has no such thing.
	State string `json:"state"`
	Wait  bool   `json:"wait"`
}

func (i item) String() string {
	if i.Feature != "" {
		return fmt.Sprintf("feature %s of %s", i.Feature, i.Provider)
	}
	return "resource provider " + i.Provider
}

func (i item) is(state string) bool { return strings.EqualFold(i.State, state) }

// begun tells whether nobody has to ask for it any more.
func (i item) begun() bool {
	return i.is(azure.Registered) || i.is("Registering") || i.is("Pending")
}

// done tells whether it is as far as the run waits for it.
func (i item) done() bool { return i.is(azure.Registered) || !i.Wait && i.begun() }

// states are all that is to be registered, in its order.
type states struct {
	Items []item    `json:"items"`
	Seen  time.Time `json:"seen"`
}

func (s states) providers() []item { return s.of(func(one item) bool { return one.Feature == "" }) }

// features are those that are to be registered now: without those of a provider that is not waited for and not there.
func (s states) features() []item {
	usable := map[string]bool{}
	for _, one := range s.providers() {
		usable[one.Provider] = one.Wait || one.is(azure.Registered)
	}
	return s.of(func(one item) bool { return one.Feature != "" && usable[one.Provider] })
}

func (s states) of(wanted func(item) bool) []item {
	var all []item
	for _, one := range s.Items {
		if wanted(one) {
			all = append(all, one)
		}
	}
	return all
}

// read asks for all states, once in a round.
func (r *registration) read(ctx context.Context, run runbook.Run) (states, error) {
	return r.seen.Get(ctx, run, r.now)
}

func (r *registration) now(ctx context.Context) (states, error) {
	seen := states{Items: []item{}, Seen: r.Clock.Now()}
	for _, provider := range r.order.Providers {
		state, err := r.Azure.ProviderState(ctx, provider.Namespace)
		if err != nil && apierr.ClassOf(err) != apierr.Missing {
			return seen, err
		}
		seen.Items = append(seen.Items, item{Provider: provider.Namespace, State: state, Wait: provider.Wait})
		for _, feature := range provider.Features {
			state, err := r.Azure.FeatureState(ctx, provider.Namespace, feature.Name)
			if err != nil && apierr.ClassOf(err) != apierr.Missing {
				return seen, err
			}
			seen.Items = append(seen.Items, item{
				Provider: provider.Namespace, Feature: feature.Name, State: state, Wait: feature.Wait,
			})
		}
	}
	return seen, nil
}

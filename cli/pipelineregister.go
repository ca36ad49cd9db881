package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/registerproviders"
)

// The actions that register what a subscription may use.
const (
	actionRegisterFeatures  = "ProviderFeatureRegistration"
	actionRegisterProviders = "ResourceProviderRegistration"
)

// registering bounds a run: it waits for providers, then for features, then for the providers again.
const registering = 2 * time.Hour

// registerAction registers resource providers and their features: each step by a run of its own in the same journal.
type registerAction struct {
	*deployAction
	config *pipeline.Config
	// read gives what a step registers, with values in the place of references.
	read func(r *registerAction, step *pipeline.Step, values []any) ([]registerproviders.Provider, error)
}

// Capabilities say that the runbook looks by itself what is registered.
func (*registerAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true, Ignores: []string{"identityFrom"}}
}

// Secret: nothing of it is one.
func (*registerAction) Secret(*pipeline.Step, string) bool { return false }

// Check reads what the step registers, as far as that is known.
func (r *registerAction) Check(_ context.Context, step *pipeline.Step) error {
	values := make([]any, 0, len(step.Fields))
	for _, field := range step.Fields {
		if field.Input != nil && field.Name.Value != "identityFrom" {
			return nil // another step will say it
		}
		values = append(values, field.Literal)
	}
	providers, err := r.read(r, step, values)
	if err != nil {
		return err
	}
	return registerproviders.Order{Providers: providers, Budget: registering}.Validate()
}

// registeredFeatures are those of the configuration that a ProviderFeatureRegistration step names.
func registeredFeatures(r *registerAction, step *pipeline.Step, values []any) ([]registerproviders.Provider, error) {
	var said struct {
		ProviderConfigRef string `json:"providerConfigRef"`
	}
	if err := step.Decode(values, &said); err != nil {
		return nil, err
	}
	held, found := r.config.Value(said.ProviderConfigRef)
	if !found {
		return nil, fmt.Errorf("providerConfigRef: %s leads nowhere in the configuration", said.ProviderConfigRef)
	}
	where := said.ProviderConfigRef + " in " + r.config.Path
	read, is := held.(map[string]any)
	if !is {
		return nil, fmt.Errorf("providerConfigRef: %s is %s, and must be a mapping of namespaces, such as "+
			"Microsoft.Compute: {poll: true, features: [{name: NAME, poll: true}]}", where, heldKind(held))
	}
	var all []registerproviders.Provider
	for _, namespace := range slices.Sorted(maps.Keys(read)) {
		provider, err := registeredProvider(namespace, read[namespace])
		if err != nil {
			return nil, fmt.Errorf("providerConfigRef: %s: %w", where, err)
		}
		all = append(all, provider)
	}
	return all, nil
}

// registeredProvider reads one provider of the configuration.
func registeredProvider(namespace string, held any) (provider registerproviders.Provider, err error) {
	type feature struct {
		Name string `json:"name"`
		Poll bool   `json:"poll"`
	}
	var read struct {
		Poll     bool      `json:"poll"`
		Features []feature `json:"features"`
	}
	raw, err := json.Marshal(held)
	if err != nil {
		return provider, fmt.Errorf("%s: %w", namespace, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return provider, misread(namespace, err)
	}
	provider = registerproviders.Provider{Namespace: namespace, Wait: read.Poll}
	for _, one := range read.Features {
		provider.Features = append(provider.Features, registerproviders.Feature{Name: one.Name, Wait: one.Poll})
	}
	return provider, nil
}

// misread says what is wrong with a provider of the configuration, in its words and not in Go's.
func misread(namespace string, err error) error {
	const fields = "poll: true and features: [{name: NAME, poll: true}]"
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		unknown := strings.TrimPrefix(err.Error(), "json: unknown field ")
		return fmt.Errorf("%s has the field %s, and may have %s", namespace, unknown, fields)
	}
	held, wanted := mistyped.Value, "a text"
	switch mistyped.Type.Kind() {
	case reflect.Bool:
		wanted = "true or false"
	case reflect.Slice:
		wanted = "a list"
	case reflect.Struct:
		wanted = "a mapping with " + fields
		if mistyped.Field != "" {
			wanted = "a list of mappings such as {name: NAME, poll: true}"
		}
	default: // a name
	}
	for name, called := range map[string]string{
		"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "a mapping",
	} {
		if strings.HasPrefix(mistyped.Value, name) {
			held = called
		}
	}
	if mistyped.Type.Kind() == reflect.Struct && mistyped.Field != "" {
		held = "a list with " + held
	}
	return fmt.Errorf("%s is %s, and must be %s", strings.TrimSuffix(namespace+"."+mistyped.Field, "."), held, wanted)
}

// heldKind is what a value of a configuration is, for people.
func heldKind(held any) string {
	switch held.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "a number"
}

// registeredProviders are those that a ResourceProviderRegistration step names: a list, or a text with commas.
func registeredProviders(_ *registerAction, step *pipeline.Step, values []any) ([]registerproviders.Provider, error) {
	var said struct {
		Namespaces any `json:"resourceProviderNamespaces"`
	}
	if err := step.Decode(values, &said); err != nil {
		return nil, err
	}
	var names []string
	switch given := said.Namespaces.(type) {
	case string:
		names = strings.Split(given, ",")
	case []any:
		for _, one := range given {
			name, is := one.(string)
			if !is {
				return nil, errors.New("resourceProviderNamespaces: it must be a list of texts")
			}
			names = append(names, name)
		}
	default:
		return nil, errors.New("resourceProviderNamespaces: it must be a text or a list of texts")
	}
	var all []registerproviders.Provider
	for _, name := range names {
		all = append(all, registerproviders.Provider{Namespace: strings.TrimSpace(name), Wait: true})
	}
	return all, nil
}

// asked is what a step registers, and for whom.
func (r *registerAction) asked(ctx context.Context, attempt *rollout.Attempt) (
	world registerproviders.World, in registerproviders.Inputs, order registerproviders.Order, err error,
) {
	values := make([]any, 0, len(attempt.Variables))
	for _, one := range attempt.Variables {
		values = append(values, one.Value)
	}
	order.Budget = registering
	if order.Providers, err = r.read(r, attempt.Step, values); err != nil {
		return world, in, order, err
	}
	in.Registration = r.name(attempt.Step)
	if in.Subscription, err = r.subscription(ctx, attempt.Step.Group.Subscription.Value); err != nil {
		return world, in, order, err
	}
	place, err := r.world(in.Subscription)
	return registerproviders.World{Azure: place.Azure, Clock: place.Clock}, in, order, err
}

// Run registers what lacks.
func (r *registerAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, err := r.run(ctx, attempt)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return outcome
}

func (r *registerAction) run(ctx context.Context, attempt *rollout.Attempt) (rollout.Outcome, error) {
	world, in, order, err := r.asked(ctx, attempt)
	if err != nil {
		return rollout.Outcome{}, err
	}
	book, err := registerproviders.New(world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	result, err := r.app.stepEngine(attempt, r.kept, world.Clock).Run(ctx, book, engine.Options{})
	if err != nil {
		return rollout.Outcome{}, err
	}
	if result.Outcome != runbook.Remediated && result.Outcome != runbook.NothingToDo {
		return rollout.Outcome{
			Result: journal.Failure, Reason: fmt.Sprintf("%s: %s (run %s)", result.Outcome, result.Reason, result.Run),
		}, nil
	}
	return rollout.Outcome{Result: journal.Done, Reason: fmt.Sprintf("registered (run %s)", result.Run)}, nil
}

// Preview asks what is registered.
func (r *registerAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	world, in, order, err := r.asked(ctx, attempt)
	if err != nil {
		return "", err
	}
	return registerproviders.Preview(ctx, world, in, order)
}

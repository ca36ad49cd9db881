package azuresim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// The states of the registration of a resource provider or a feature.
const (
	stateNotRegistered = "NotRegistered"
	statePending       = "Pending"
	stateRegistering   = "Registering"
	stateRegistered    = "Registered"
	stateUnregistering = "Unregistering"
)

func registrationStates() []string {
	return []string{stateNotRegistered, statePending, stateRegistering, stateRegistered, stateUnregistering}
}

// registrations are what the subscription may use. A provider that is not among them is registered.
type registrations struct {
	providers map[string]string // states, by namespaces in lower case
	features  []*feature
}

type feature struct {
	Feature
	state string
}

// knownFeatures are features of which the embedded Azure says that there are. Of any other nobody knows.
func knownFeatures() []Feature {
	return []Feature{
		{Provider: "Microsoft.Compute", Name: "EncryptionAtHost"},
		{Provider: "Microsoft.ContainerService", Name: "IstioNativeSidecarModePreview"},
		{Provider: "Microsoft.ContainerService", Name: "ManagedGatewayAPIPreview"},
		{Provider: "Microsoft.Network", Name: "AllowBringYourOwnPublicIpAddress"},
	}
}

// providersByName are namespaces that can be registered, and of which the embedded Azure knows no types.
func providersByName() []string {
	return []string{
		"Microsoft.Advisor", "Microsoft.AlertsManagement", "Microsoft.Cache", "Microsoft.Features",
		"Microsoft.GuestConfiguration", "Microsoft.PolicyInsights", "Microsoft.Quota", "Microsoft.RedHatOpenShift", "Microsoft.Security",
		"Microsoft.Support",
	}
}

func newRegistrations(scenario Scenario) registrations {
	made := registrations{providers: map[string]string{}}
	for _, namespace := range scenario.Unregistered {
		made.providers[strings.ToLower(namespace)] = stateNotRegistered
	}
	for _, one := range scenario.Features {
		made.features = append(made.features, &feature{one, one.State})
	}
	for _, one := range knownFeatures() {
		if made.feature(one.Provider, one.Name) == nil {
			made.features = append(made.features, &feature{one, stateNotRegistered})
		}
	}
	return made
}

func (r registrations) feature(provider, name string) *feature {
	for _, one := range r.features {
		if strings.EqualFold(one.Provider, provider) && strings.EqualFold(one.Name, name) {
			return one
		}
	}
	return nil
}

func (r registrations) provider(namespace string) string {
	if state, told := r.providers[strings.ToLower(namespace)]; told {
		return state
	}
	return stateRegistered
}

// register begins a registration, or its end. One that is what it is to be stays so.
func (m *model) register(namespace string, wanted bool) {
	key, under, done := strings.ToLower(namespace), stateRegistering, stateRegistered
	if !wanted {
		under, done = stateUnregistering, stateNotRegistered
	}
	if state := m.registrations.provider(namespace); state == under || state == done {
		return
	}
	m.registrations.providers[key] = under
	m.time.after(m.scenario.Durations.Register.span(), func() {
		if m.registrations.providers[key] == under {
			m.registrations.providers[key] = done
		}
	})
}

// registerFeature begins the registration of a feature, or its end. What has to be approved stays Pending.
func (m *model) registerFeature(f *feature, wanted bool) {
	under, done := stateRegistering, stateRegistered
	switch {
	case !wanted:
		under, done = stateUnregistering, stateNotRegistered
	case f.Approval:
		under, done = statePending, statePending
	}
	if f.state == under || f.state == done {
		return
	}
	f.state = under
	m.time.after(m.scenario.Durations.Register.span(), func() {
		if f.state == under {
			f.state = done
		}
	})
}

// notRegistered is ARM's refusal to write a resource of a provider that the subscription is not registered for; nil
// where it is.
func (m *model) notRegistered(kind string) *refusal {
	namespace, _, _ := strings.Cut(kind, "/")
	if m.registrations.provider(namespace) == stateRegistered {
		return nil
	}
	return refuse(http.StatusConflict, "MissingSubscriptionRegistration", "The subscription is not registered to use "+
		"namespace '%s'. See https://aka.ms/rps-not-found for how to register subscriptions.", namespace)
}

var providerNamespace = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)+$`)

// checkRegistrations: namespaces and features that have names, each once, in states that there are.
func (s *Scenario) checkRegistrations() *problem {
	for i, namespace := range s.Unregistered {
		if !providerNamespace.MatchString(namespace) {
			return wrong([]any{"unregistered", i}, "namespace %q is none, such as Microsoft.Cdn", namespace)
		}
	}
	seen := map[string]bool{}
	for i, one := range s.Features {
		at, key := []any{"features", i}, strings.ToLower(one.Provider+"/"+one.Name)
		switch {
		case !providerNamespace.MatchString(one.Provider) || one.Name == "":
			return wrong(at, "a feature needs a provider, such as Microsoft.Compute, and a name")
		case !slices.Contains(registrationStates(), one.State):
			return wrong(append(at, "state"), "state %q is not one of %s", one.State, strings.Join(registrationStates(), ", "))
		case seen[key]:
			return wrong(at, "feature %s/%s is there twice", one.Provider, one.Name)
		}
		seen[key] = true
	}
	return nil
}

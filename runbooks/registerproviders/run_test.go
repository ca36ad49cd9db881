package registerproviders_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/registerproviders"
)

// scene is the embedded Azure with a subscription that is not registered for all, and a journal. It belongs in a bubble
// of virtual time.
type scene struct {
	t       *testing.T
	world   *azuresim.World
	journal journal.Store
	in      registerproviders.Inputs
	order   registerproviders.Order
	watch   func(engine.Event)
}

func newScene(t *testing.T) *scene { return newSceneOf(t, time.Minute) }

func newSceneOf(t *testing.T, registering time.Duration) *scene {
	t.Helper()
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		t.Fatal(err)
	}
	scenario.Durations.Register = azuresim.Duration(registering)
	scenario.Unregistered = []string{"Microsoft.Cdn", "Microsoft.Support"}
	scenario.Features = []azuresim.Feature{
		{Provider: "Microsoft.Network", Name: "Slow", State: "NotRegistered", Approval: true},
		{Provider: "Microsoft.Network", Name: "Old", State: "Registered"},
		{Provider: "Microsoft.Network", Name: "New", State: "NotRegistered"},
	}
	world, err := azuresim.New(scenario, azuresim.Options{Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	s := &scene{
		t: t, world: world, journal: journal.NewMemory(),
		in: registerproviders.Inputs{Subscription: scenario.Subscription, Registration: "fleet-features-0a"},
		order: registerproviders.Order{Budget: time.Hour, Providers: []registerproviders.Provider{
			{Namespace: "Microsoft.Cdn", Wait: true},
			{Namespace: "Microsoft.Compute", Wait: true, Features: []registerproviders.Feature{
				{Name: "EncryptionAtHost", Wait: true},
			}},
			{Namespace: "Microsoft.Network", Wait: true, Features: []registerproviders.Feature{{Name: "Old", Wait: true}}},
		}},
	}
	t.Cleanup(func() { runbooktest.Replayed(s.t, s.journal, registerproviders.Name, decides) })
	return s
}

func decides(history *journal.History) (runbook.Runbook, error) {
	var in registerproviders.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return registerproviders.Replayed(in, history.Header.Target)
}

func (s *scene) client(transport http.RoundTripper) *azure.Client {
	s.t.Helper()
	client, err := azure.New(azure.Options{
		Subscription: s.in.Subscription, Credential: s.world.Credential(), Transport: transport, Clock: clock.RealClock{},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

func (s *scene) acts() registerproviders.World {
	return registerproviders.World{Azure: s.client(s.world.ARM()), Clock: clock.RealClock{}}
}

func (s *scene) ends(want runbook.Outcome, says string) {
	s.t.Helper()
	book, err := registerproviders.New(s.acts(), s.in, s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	machine := engine.Engine{Journal: s.journal, Clock: clock.RealClock{}, Watch: s.watch}
	result, err := machine.Run(s.t.Context(), book, engine.Options{})
	if err != nil || result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.t.Fatalf("ended %s: %s, %v, want %s: %s", result.Outcome, result.Reason, err, want, says)
	}
}

// asked are what was asked to be registered, in order.
func (s *scene) asked() []string {
	var all []string
	for _, call := range s.world.Calls() {
		if path, is := strings.CutSuffix(call.Resource, "/register"); is && call.Verb == "POST" {
			_, what, _ := strings.Cut(path, "/providers/")
			all = append(all, strings.TrimPrefix(what, "Microsoft.Features/providers/"))
		}
	}
	return all
}

func (s *scene) wasAsked(want ...string) {
	s.t.Helper()
	if got := s.asked(); !slices.Equal(got, want) {
		s.t.Errorf("asked to register %q, want %q", got, want)
	}
}

// TestRegistersWhatLacks, waits for it, and tells the providers of their new features. Again there is nothing to do.
func TestRegistersWhatLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		began := time.Now()
		s.ends(runbook.Remediated, "all final checks hold")
		all := []string{"Microsoft.Cdn", "Microsoft.Compute/features/EncryptionAtHost", "Microsoft.Compute"}
		s.wasAsked(all...)
		if took := time.Since(began); took < 2*time.Minute {
			t.Errorf("it waited for %s", took)
		}
		s.ends(runbook.Remediated, "")
		s.wasAsked(all...)
	})
}

// TestWhatIsNotWaitedFor is asked for, and features of its provider are left for the next time.
func TestWhatIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Providers = []registerproviders.Provider{
			{Namespace: "Microsoft.Cdn", Features: []registerproviders.Feature{{Name: "Old", Wait: true}}},
			{Namespace: "Microsoft.Network", Wait: true, Features: []registerproviders.Feature{{Name: "Slow"}}},
		}
		s.order.Providers[0].Features = nil
		began := time.Now()
		s.ends(runbook.Remediated, "")
		s.wasAsked("Microsoft.Cdn", "Microsoft.Network/features/Slow")
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it waited for %s", took)
		}
	})
}

// TestFeaturesOfAProviderThatIsNotWaitedForAreLeftOut while it isn't registered.
func TestFeaturesOfAProviderThatIsNotWaitedForAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Compute"}, func(body map[string]any) {
			body["registrationState"] = "Registering"
		})
		s.order.Providers = []registerproviders.Provider{
			{Namespace: "Microsoft.Compute", Features: []registerproviders.Feature{{Name: "EncryptionAtHost", Wait: true}}},
		}
		s.ends(runbook.Remediated, "")
		s.wasAsked()
	})
}

func TestEnds(t *testing.T) {
	for rule, row := range map[string]struct {
		change func(*scene)
		want   runbook.Outcome
		says   string
	}{
		"a feature that nobody approves": {func(s *scene) {
			s.order.Providers[2].Features[0].Name = "Slow"
		}, runbook.NeedsAttention, "not registered after 30m0s: feature Slow of Microsoft.Network (Pending)"},
		"a namespace that ARM does not have": {func(s *scene) {
			s.order.Providers[0].Namespace = "Microsoft.Cnd"
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cnd"}, 404,
				azuresim.ErrorBody("InvalidResourceNamespace", "The resource namespace 'Microsoft.Cnd' is invalid."))
		}, runbook.Failed, "ARM has no resource provider Microsoft.Cnd"},
		"a feature that ARM does not have": {func(s *scene) {
			s.order.Providers[1].Features[0].Name = "Encryption"
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/features/Encryption"}, 404,
				azuresim.ErrorBody("FeatureNotFound", "The feature 'Encryption' could not be found."))
		}, runbook.Failed, "ARM has no feature Encryption of Microsoft.Compute"},
		"somebody ends a registration": {func(s *scene) {
			s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cdn"}, func(body map[string]any) {
				body["registrationState"] = "Unregistering"
			})
		}, runbook.Deferred, "the registration of resource provider Microsoft.Cdn is being ended"},
		"what can't be read": {func(s *scene) {
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cdn"}, 403,
				azuresim.ErrorBody("AuthorizationFailed", "no rights"))
		}, runbook.Undecided, "registrable is unknown"},
		"an answer about another provider": {func(s *scene) {
			s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cdn"}, func(body map[string]any) {
				body["namespace"] = "Microsoft.Other"
			})
		}, runbook.Undecided, "registrable is unknown"},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				row.change(s)
				s.ends(row.want, row.says)
				if row.want != runbook.NeedsAttention {
					s.wasAsked()
				}
			})
		})
	}
}

// TestProvidersAreToldOfAllNewFeatures, also of those that an earlier attempt registered.
func TestProvidersAreToldOfAllNewFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Providers = []registerproviders.Provider{s.order.Providers[1], {Namespace: "Microsoft.Network", Wait: true,
			Features: []registerproviders.Feature{{Name: "New", Wait: true}}}}
		s.world.Answer(azuresim.Requests{Method: "POST", Path: "*/features/New/register", Times: 1}, 409,
			azuresim.ErrorBody("Conflict", "Another operation is in progress."))
		s.ends(runbook.Remediated, "")
		s.wasAsked("Microsoft.Compute/features/EncryptionAtHost", "Microsoft.Network/features/New",
			"Microsoft.Network/features/New", "Microsoft.Compute", "Microsoft.Network")
	})
}

// TestRegistrationThatIsEndedWhileItIsWaitedForIsAskedForAgain: nothing comes of waiting for it.
func TestRegistrationThatIsEndedWhileItIsWaitedForIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cdn"}, func(body map[string]any) {
			if len(s.asked()) == 1 {
				body["registrationState"] = "NotRegistered"
			}
		})
		s.ends(runbook.Remediated, "")
		s.wasAsked("Microsoft.Cdn", "Microsoft.Cdn", "Microsoft.Compute/features/EncryptionAtHost", "Microsoft.Compute")
	})
}

// TestPreview names what would be registered, and registers nothing.
func TestPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		says := func(want string) {
			t.Helper()
			if got, err := registerproviders.Preview(t.Context(), s.acts(), s.in, s.order); err != nil || got != want {
				t.Errorf("%q, %v", got, err)
			}
		}
		says("+ resource provider Microsoft.Cdn, which is NotRegistered\n" +
			"+ feature EncryptionAtHost of Microsoft.Compute, which is NotRegistered\n" +
			"~ resource provider Microsoft.Compute is told of it, by registering it again")
		s.wasAsked()
		s.ends(runbook.Remediated, "")
		says("all 5 are registered: nothing to do")
	})
}

// TestCrashAnywhere: killed at any request and any write and resumed, all is registered. A feature is asked for once;
// to register a provider again does no harm.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		s := newSceneOf(t, time.Second)
		s.order.Providers = s.order.Providers[:2]
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				world := registerproviders.World{Azure: s.client(process.Transport(s.world.ARM())), Clock: clock.RealClock{}}
				book, err := registerproviders.New(world, s.in, s.order)
				if err != nil {
					t.Fatal(err)
				}
				return book
			},
			Verify: func() {
				if said, err := registerproviders.Preview(t.Context(), s.acts(), s.in, s.order); err != nil ||
					said != "all 3 are registered: nothing to do" {
					t.Errorf("%s, %v", said, err)
				}
			},
			MayRepeat: func(change string) bool { return strings.Contains(change, "/providers/Microsoft.Compute/register") },
		}
	}, runbooktest.VirtualTime())
}

func TestOrderValidates(t *testing.T) {
	provider := func(namespace string, features ...string) registerproviders.Provider {
		made := registerproviders.Provider{Namespace: namespace}
		for _, name := range features {
			made.Features = append(made.Features, registerproviders.Feature{Name: name})
		}
		return made
	}
	in := registerproviders.Inputs{Subscription: "5a1e0000-0000-4000-8000-000000000001", Registration: "a"}
	for says, providers := range map[string][]registerproviders.Provider{
		"no resource provider is named":                    nil,
		`"Microsoft" is no namespace of a`:                 {provider("Microsoft")},
		`"Microsoft.Cdn/x" is no namespace`:                {provider("Microsoft.Cdn/x")},
		"microsoft.cdn is named twice":                     {provider("Microsoft.Cdn"), provider("microsoft.cdn")},
		"Microsoft.Cdn/A is named twice":                   {provider("Microsoft.Cdn", "a", "A")},
		`"../register" is no name of a feature of Microso`: {provider("Microsoft.Cdn", "../register")},
	} {
		_, err := registerproviders.New(registerproviders.World{}, in,
			registerproviders.Order{Providers: providers, Budget: 1})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	book, err := registerproviders.Replayed(registerproviders.Inputs{
		Subscription: "5a1e0000-0000-4000-8000-000000000001", Registration: "a",
	}, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	reading := func(items string) string { return `{"items":[` + items + `],"seen":"2026-11-24T12:00:00Z"}` }
	one := func(state, feature string, wait bool) string {
		raw, err := json.Marshal(map[string]any{"provider": "A.B", "feature": feature, "state": state, "wait": wait})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"registrable": {
			Readings: []string{
				reading(one("Registered", "c", true)), reading(one("", "", true)), reading(one("Unregistering", "", true)),
			},
			Evidence: []string{"seen"}, Said: []string{"items[].provider", "items[].feature"},
			Unused: map[string]string{"items[].wait": "for the check"},
		},
		"registered": {
			Readings: []string{
				reading(one("Registered", "", true) + "," + one("Registering", "c", true)), reading(one("Registering", "", true)),
				reading(one("Registering", "", false)), reading(one("NotRegistered", "", true)),
			},
			Evidence: []string{"seen"},
		},
	}, book)
}

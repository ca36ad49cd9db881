package resourcegroup_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/resourcegroup"
)

// scene is the embedded Azure, and a runbook that wants a resource group. It belongs in a bubble of virtual time.
type scene struct {
	t        *testing.T
	world    *azuresim.World
	scenario azuresim.Scenario
	wanted   resourcegroup.Wanted
	watch    func(engine.Event)
}

func newScene(t *testing.T) *scene {
	t.Helper()
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		t.Fatal(err)
	}
	world, err := azuresim.New(scenario, azuresim.Options{Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	return &scene{
		t: t, world: world, scenario: scenario,
		wanted: resourcegroup.Wanted{Name: "new", Location: "northeurope"},
	}
}

func (s *scene) client(transport http.RoundTripper) *azure.Client {
	s.t.Helper()
	client, err := azure.New(azure.Options{
		Subscription: s.scenario.Subscription, Credential: s.world.Credential(), Transport: transport,
		Clock: clock.RealClock{},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// book is the smallest runbook that shares what this package has.
func (s *scene) book(client *azure.Client) runbook.Runbook {
	read := func(ctx context.Context, _ runbook.Run) (resourcegroup.Seen, error) {
		return s.wanted.Read(ctx, client)
	}
	return runbook.Runbook{
		Name: "group", Version: "1", Inputs: s.wanted, Budget: time.Hour,
		Target: runbook.Target{Kind: "resource group", ID: "group/" + s.wanted.Name, Name: s.wanted.Name},
		Guards: []runbook.Guard{runbook.Ask("usable", "may it begin?", read, func(seen resourcegroup.Seen) runbook.Finding {
			return seen.Usable(s.scenario.Subscription)
		})},
		Steps:  []runbook.Step{s.wanted.Create(client, "usable")},
		Checks: []runbook.Guard{runbook.Ask("there", "is it there?", read, resourcegroup.Seen.There)},
	}
}

func (s *scene) ends(want runbook.Outcome, says string) {
	s.t.Helper()
	machine := engine.Engine{Journal: journal.NewMemory(), Clock: clock.RealClock{}, Watch: s.watch}
	result, err := machine.Run(s.t.Context(), s.book(s.client(s.world.ARM())), engine.Options{})
	if err != nil || result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.t.Fatalf("ended %s: %s, %v, want %s: %s", result.Outcome, result.Reason, err, want, says)
	}
}

func (s *scene) inject(text string) {
	s.t.Helper()
	fault, err := s.scenario.ParseFault("fault", []byte(text))
	if err == nil {
		err = s.world.Inject(fault)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// send asks ARM for the group as anybody could, past all that Salve has.
func (s *scene) send(method, body string) []byte {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "https://management.azure.com/subscriptions/"+
		s.scenario.Subscription+"/resourceGroups/new?api-version=2021-04-01", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := s.world.Credential().GetToken(s.t.Context(), policy.TokenRequestOptions{
		Scopes: []string{"https://management.azure.com/.default"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.world.ARM().RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		s.t.Fatalf("%d, %v: %s", response.StatusCode, err, raw)
	}
	return raw
}

// made counts the writes of resource groups that were accepted.
func (s *scene) made() int {
	count := 0
	for _, call := range s.world.Calls() {
		if call.Verb == http.MethodPut && path.Base(path.Dir(call.Resource)) == "resourceGroups" && call.Status/100 == 2 {
			count++
		}
	}
	return count
}

// is checks where the group is, and how often it was written.
func (s *scene) is(location string, made int) {
	s.t.Helper()
	got, err := s.client(s.world.ARM()).GroupLocation(s.t.Context(), s.wanted.Name)
	if err != nil && location != "" || got != location {
		s.t.Errorf("it is in %q, %v, want %q", got, err, location)
	}
	if s.made() != made {
		s.t.Errorf("it was written %d times, want %d", s.made(), made)
	}
}

func TestCreate(t *testing.T) {
	for rule, row := range map[string]struct {
		change   func(*scene)
		want     runbook.Outcome
		says     string
		location string
		made     int
	}{
		"one that is missing is made": {func(*scene) {}, runbook.Remediated, "", "northeurope", 1},
		"one that is there, elsewhere too, is left as it is": {
			func(s *scene) { s.wanted.Name = "fleet" }, runbook.Remediated, "", "westeurope", 0,
		},
		"one that is missing is not made where nobody says": {
			func(s *scene) { s.wanted.Location = "" }, runbook.Failed, "it is not known where to create it", "", 0,
		},
		"one that can't be seen is not missing": {
			func(s *scene) { s.inject(`deny: {match: {path: '*/resourcegroups/*'}}`) }, runbook.Undecided, "usable is unknown",
			"", 0,
		},
		"one that nobody may make": {
			func(s *scene) { s.inject(`deny: {match: {method: PUT, path: '*/resourcegroups/*'}}`) }, runbook.Failed,
			"forbidden", "", 0,
		},
		"one of no name that ARM takes": {
			func(s *scene) { s.wanted.Name = "new." }, runbook.Failed, "none can be called so", "", 0,
		},
		"one whose answer was lost is seen, and not made again": {
			func(s *scene) { s.inject(`lostResponse: {match: {method: PUT, path: '*/resourcegroups/*'}}`) },
			runbook.Remediated, "", "northeurope", 1,
		},
		"one that somebody makes meanwhile keeps their location": {
			func(s *scene) {
				s.watch = func(event engine.Event) {
					if event.Kind == engine.StepBegan {
						s.send(http.MethodPut, `{"location":"westeurope","tags":{"owner":"them"}}`)
					}
				}
			}, runbook.Remediated, "", "westeurope", 1,
		},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				row.change(s)
				s.ends(row.want, row.says)
				s.is(row.location, row.made)
			})
		})
	}
}

// TestNoGroupIsWanted by what is of a subscription.
func TestNoGroupIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.wanted = resourcegroup.Wanted{}
		seen, err := s.wanted.Read(t.Context(), nil)
		says, unmade := seen.Preview()
		if err != nil || unmade != nil || !seen.Found || says != "" {
			t.Errorf("read %+v, %v: %q, %v", seen, err, says, unmade)
		}
		s.ends(runbook.Remediated, "")
		if s.made() != 0 {
			t.Error("one was made")
		}
	})
}

// TestTags: what deletes groups without an owner leaves those that a rollout makes.
func TestTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.ends(runbook.Remediated, "")
		var group struct {
			Tags map[string]string `json:"tags"`
		}
		raw := s.send(http.MethodGet, "")
		if err := json.Unmarshal(raw, &group); err != nil || group.Tags["persist"] != "true" {
			t.Errorf("it has the tags %v, %v", group.Tags, err)
		}
	})
}

// TestDecisions are those of readings alone.
func TestDecisions(t *testing.T) {
	missing := resourcegroup.Seen{Name: "new", CreateIn: "northeurope"}
	nowhere := resourcegroup.Seen{Name: "new"}
	there := resourcegroup.Seen{Name: "new", Found: true, Location: "westeurope", CreateIn: "northeurope"}
	for rule, row := range map[string]struct {
		seen    resourcegroup.Seen
		usable  runbook.Answer
		there   runbook.Answer
		preview string
	}{
		"missing":             {missing, runbook.AnswerHolds, runbook.AnswerDoesNotHold, "+ resource group new, in north"},
		"missing and nowhere": {nowhere, runbook.AnswerDoesNotHold, runbook.AnswerDoesNotHold, "hint: --region"},
		"there":               {there, runbook.AnswerHolds, runbook.AnswerHolds, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := row.seen.Usable("sub").Answer; got != row.usable {
				t.Errorf("usable %s", got)
			}
			if got := row.seen.There().Answer; got != row.there {
				t.Errorf("there %s", got)
			}
			got, err := row.seen.Preview()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, row.preview) || row.preview == "" && got != "" {
				t.Errorf("it says %q", got)
			}
			if lost := !row.seen.Found && row.seen.CreateIn == ""; lost != (apierr.ClassOf(err) == apierr.Missing) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestCrashAnywhere: killed at any request and any write and resumed, the group is made once.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		s := newScene(t)
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				return s.book(s.client(process.Transport(s.world.ARM())))
			},
			Verify: func() { s.is("northeurope", 1) },
		}
	}, runbooktest.VirtualTime())
}

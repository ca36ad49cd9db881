package azuresim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/azuresim"
)

// stacked is a world to which requests are sent about stacks and registrations.
type stacked struct {
	t     *testing.T
	world *azuresim.World
	scope string
}

func newStacked(t *testing.T, change func(*azuresim.Scenario)) *stacked {
	t.Helper()
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		t.Fatal(err)
	}
	change(&scenario)
	world, err := azuresim.New(scenario, azuresim.Options{Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	return &stacked{t, world, "/subscriptions/" + scenario.Subscription}
}

// asks sends a request, and gives status, body and headers of the answer.
func (s *stacked) asks(method, path, body string) (int, map[string]any, http.Header) {
	s.t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	version := "2024-03-01"
	if strings.Contains(path, "Microsoft.Features") {
		version = "2021-07-01"
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method,
		"https://management.azure.com"+s.scope+path+separator+"api-version="+version, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer any")
	answer, err := s.world.ARM().RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	said := map[string]any{}
	_ = json.NewDecoder(answer.Body).Decode(&said) // none has none
	return answer.StatusCode, said, answer.Header
}

// refuses expects an error of a code.
func (s *stacked) refuses(method, path, body string, status int, code string) {
	s.t.Helper()
	got, said, _ := s.asks(method, path, body)
	if why, _ := said["error"].(map[string]any); got != status || code != "" && why["code"] != code {
		s.t.Errorf("%s %s: %d %v, want %d %s", method, path, got, said, status, code)
	}
}

const stackPath = "/resourceGroups/fleet/providers/Microsoft.Resources/deploymentStacks/s"

// order is the body of a stack with vaults of these names.
func order(action, deny string, names ...string) string {
	var resources []string
	for _, name := range names {
		resources = append(resources, `{"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01", "name": "`+name+
			`", "location": "westeurope", "properties": {}}`)
	}
	return `{"properties": {"actionOnUnmanage": {"resources": "` + action + `"}, "denySettings": {"mode": "` + deny + `"},
		"template": {"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
		"contentVersion": "1.0.0.0", "resources": [` + strings.Join(resources, ",") + `]}}}`
}

func (s *stacked) vault(name string) int {
	s.t.Helper()
	status, _, _ := s.asks("GET", "/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/"+name, "")
	return status
}

func (s *stacked) state() any {
	s.t.Helper()
	_, said, _ := s.asks("GET", stackPath, "")
	properties, _ := said["properties"].(map[string]any)
	return properties["provisioningState"]
}

func TestStacksManageWhatTheirTemplatesSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStacked(t, func(*azuresim.Scenario) {})
		s.refuses("GET", stackPath, "", 404, "DeploymentStackNotFound")
		s.refuses("DELETE", stackPath, "", 204, "")
		if status, _, header := s.asks("PUT", stackPath, order("delete", "none", "a", "b")); status != 201 ||
			!strings.Contains(header.Get("Azure-AsyncOperation"), "/deploymentStackOperationStatus/") {
			t.Errorf("%d %v", status, header)
		}
		s.refuses("PUT", stackPath, order("delete", "none", "a"), 409, "DeploymentStackInNonTerminalState")
		s.refuses("DELETE", stackPath, "", 409, "DeploymentStackInNonTerminalState")
		time.Sleep(time.Minute)
		if s.state() != "succeeded" || s.vault("a") != 200 || s.vault("b") != 200 {
			t.Errorf("%v, %d, %d", s.state(), s.vault("a"), s.vault("b"))
		}
		if status, _, _ := s.asks("PUT", stackPath, order("delete", "none", "a")); status != 200 {
			t.Errorf("%d", status)
		}
		time.Sleep(time.Minute)
		if s.state() != "succeeded" || s.vault("b") != 404 {
			t.Errorf("%v, b %d", s.state(), s.vault("b"))
		}
		if status, _, header := s.asks("DELETE", stackPath+"?unmanageAction.Resources=detach", ""); status != 202 ||
			header.Get("Location") == "" {
			t.Errorf("%d %v", status, header)
		}
		time.Sleep(time.Minute)
		s.refuses("GET", stackPath, "", 404, "DeploymentStackNotFound")
		if s.vault("a") != 200 {
			t.Errorf("a %d", s.vault("a"))
		}
		s.refuses("POST", stackPath+"/exportTemplate", "", 501, "NotImplemented")
	})
}

func TestStacksDenyChangesOfWhatTheyManage(t *testing.T) {
	for mode, want := range map[string][2]int{
		"none": {200, 200}, "denyDelete": {200, 403}, "denyWriteAndDelete": {403, 403},
	} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStacked(t, func(*azuresim.Scenario) {})
				s.asks("PUT", stackPath, order("delete", mode, "a"))
				time.Sleep(time.Minute)
				const vault = "/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/a"
				write, _, _ := s.asks("PUT", vault, `{"location": "westeurope"}`)
				remove, _, _ := s.asks("DELETE", vault, "")
				if got := [2]int{write, remove}; got != want {
					t.Errorf("%v, want %v", got, want)
				}
			})
		})
	}
}

func TestStacksAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStacked(t, func(*azuresim.Scenario) {})
		for _, body := range []string{
			`{}`, order("keep", "none", "a"), order("delete", "some", "a"), strings.Replace(order("delete", "none"), `"template"`,
				`"templateLink": {}, "template"`, 1),
		} {
			s.refuses("PUT", stackPath, body, 400, "InvalidDeploymentStack")
		}
		s.refuses("PUT", strings.Replace(stackPath, "/resourceGroups/fleet", "", 1), order("delete", "none"), 400,
			"InvalidDeploymentStack") // a subscription's needs a location
		s.refuses("PUT", strings.Replace(stackPath, "fleet", "none", 1), order("delete", "none"), 404,
			"ResourceGroupNotFound")
	})
}

func TestProvidersAndFeaturesAreRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStacked(t, func(scenario *azuresim.Scenario) {
			scenario.Unregistered = []string{"Microsoft.KeyVault"}
			scenario.Features = []azuresim.Feature{
				{Provider: "Microsoft.Network", Name: "Slow", State: "NotRegistered", Approval: true},
			}
		})
		const (
			vault    = "/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/a"
			features = "/providers/Microsoft.Features/providers/"
		)
		state := func(path string) any {
			t.Helper()
			_, said, _ := s.asks("GET", path, "")
			if properties, of := said["properties"].(map[string]any); of {
				return properties["state"]
			}
			return said["registrationState"]
		}
		s.refuses("PUT", vault, `{"location": "westeurope"}`, 409, "MissingSubscriptionRegistration")
		for path, want := range map[string][3]any{
			"/providers/Microsoft.KeyVault":                          {"NotRegistered", "Registering", "Registered"},
			features + "Microsoft.Compute/features/EncryptionAtHost": {"NotRegistered", "Registering", "Registered"},
			features + "Microsoft.Network/features/Slow":             {"NotRegistered", "Pending", "Pending"},
		} {
			before := state(path)
			s.asks("POST", path+"/register", "")
			during := state(path)
			time.Sleep(2 * time.Minute)
			if got := [3]any{before, during, state(path)}; got != want {
				t.Errorf("%s: %v, want %v", path, got, want)
			}
		}
		if status, _, _ := s.asks("PUT", vault, `{"location": "westeurope"}`); status != 201 {
			t.Errorf("%d", status)
		}
		s.asks("POST", "/providers/Microsoft.KeyVault/unregister", "")
		time.Sleep(2 * time.Minute)
		if now := state("/providers/Microsoft.KeyVault"); now != "NotRegistered" {
			t.Errorf("%v", now)
		}
		// What it does not know is never told to be absent.
		s.refuses("GET", "/providers/Microsoft.Cnd", "", 501, "NotImplemented")
		s.refuses("POST", "/providers/Microsoft.Cnd/register", "", 501, "NotImplemented")
		s.refuses("GET", features+"Microsoft.Compute/features/Unheard", "", 501, "NotImplemented")
	})
}

// TestOnlyWhatIsRegisteredIsWritten: a provider that is being registered, or whose registration is being ended, is not
// registered.
func TestOnlyWhatIsRegisteredIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStacked(t, func(scenario *azuresim.Scenario) { scenario.Unregistered = []string{"Microsoft.KeyVault"} })
		const provider = "/providers/Microsoft.KeyVault"
		for _, step := range []struct {
			ask, state string
			after      time.Duration
			status     int
		}{
			{"", "NotRegistered", 0, 409},
			{"/register", "Registering", 0, 409},
			{"", "Registered", 2 * time.Minute, 201},
			{"/unregister", "Unregistering", 0, 409},
			{"", "NotRegistered", 2 * time.Minute, 409},
		} {
			if step.ask != "" {
				s.asks("POST", provider+step.ask, "")
			}
			time.Sleep(step.after)
			_, said, _ := s.asks("GET", provider, "")
			status, answer, _ := s.asks("PUT", "/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/a",
				`{"location": "westeurope"}`)
			if said["registrationState"] != step.state || status != step.status {
				t.Errorf("%v: %d %v, want %s: %d", said["registrationState"], status, answer, step.state, step.status)
			}
		}
	})
}

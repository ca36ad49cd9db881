package served_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"salve/internal/azuresim/served"
	"salve/internal/kubetest"
)

// anybody is a client that knows nothing but HTTP and JSON.
type anybody struct {
	*http.Client
	url   string
	token string
}

// reply is an answer as anybody sees it.
type reply struct {
	status int
	header http.Header
	body   map[string]any
}

func (a *anybody) ask(t *testing.T, method, address, body string) reply {
	t.Helper()
	if strings.HasPrefix(address, "/") {
		address = a.url + address
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ms-client-request-id", "raw-"+strconv.Itoa(len(address)))
	response, err := a.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got := reply{status: response.StatusCode, header: response.Header}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &got.body); err != nil {
			t.Fatalf("%s %s: %v in %s", method, address, err, text)
		}
	}
	return got
}

// at digs a value out of an answer.
func (r reply) at(path ...string) any {
	var value any = r.body
	for _, step := range path {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	return value
}

// login gets a token as OAuth says.
func login(t *testing.T, server *served.Server) *anybody {
	t.Helper()
	a := &anybody{Client: client(t, server), url: server.URL()}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"anybody"}, "client_secret": {"any"},
		"scope": {server.URL() + "/.default"},
	}
	response, err := a.PostForm(server.URL()+"/7e4a4700-0000-4000-8000-000000000002/oauth2/v2.0/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.AccessToken == "" {
		t.Fatalf("no token: %v", err)
	}
	a.token = answer.AccessToken
	return a
}

// follow polls an address as ARM's contract says: after Retry-After, until it no longer answers that it is running.
func (a *anybody) follow(t *testing.T, address string) reply {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		got := a.ask(t, "GET", address, "")
		if got.status != http.StatusAccepted && got.at("status") != "InProgress" && got.at("status") != "Accepted" &&
			got.at("status") != "Running" {
			return got
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			t.Fatalf("%s is running, with Retry-After %q", address, got.header.Get("Retry-After"))
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s still runs", address)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

const (
	inSubscription = "/subscriptions/" + subscription
	inGroup        = inSubscription + "/resourceGroups/" + group + "/providers"
	inCluster      = inGroup + "/Microsoft.ContainerService/managedClusters/" + cluster
	version        = "?api-version=2025-02-01"
)

func TestAnyClientCanTalkToIt(t *testing.T) {
	server := serve(t, kubetest.Start(t), apps+"pageSize: 2\nactivityLog: {pageSize: 3}\n", nil)
	anybody := login(t, server)

	t.Run("a template is deployed and its deployment is followed by Azure-AsyncOperation", func(t *testing.T) {
		const deployment = inGroup + "/Microsoft.Resources/deployments/raw?api-version=2025-04-01"
		got := anybody.ask(t, "PUT", deployment, `{"properties": {"mode": "Incremental", "template": {"$schema": "x", "contentVersion": "1.0.0.0",
			"resources": [{"type": "N.S/things", "apiVersion": "1", "name": "a", "properties": {"colour": "red"}}],
			"outputs": {"colour": {"type": "string", "value": "[reference('a').colour]"}}}}}`)
		if got.status != http.StatusCreated || got.at("properties", "provisioningState") != "Accepted" {
			t.Fatalf("got %+v", got)
		}
		if end := anybody.follow(t, got.header.Get("Azure-AsyncOperation")); end.at("status") != "Succeeded" {
			t.Fatalf("got %+v", end)
		}
		if end := anybody.ask(t, "GET", deployment, ""); end.at("properties", "outputs", "colour", "value") != "red" {
			t.Errorf("got %+v", end)
		}
	})
	t.Run("a pool is created and its operation is followed by Azure-AsyncOperation", func(t *testing.T) {
		got := anybody.ask(t, "PUT", inCluster+"/agentPools/raw"+version, `{"properties":{"count":1,"vmSize":"Standard_D4ds_v5"}}`)
		if got.status != http.StatusCreated || got.at("properties", "provisioningState") != "Creating" ||
			got.header.Get("Retry-After") == "" {
			t.Fatalf("got %+v", got)
		}
		for _, header := range []string{"x-ms-request-id", "x-ms-correlation-request-id"} {
			if got.header.Get(header) == "" {
				t.Errorf("no header %s", header)
			}
		}
		busy := anybody.ask(t, "DELETE", inCluster+"/agentPools/workers"+version, "")
		if busy.status != http.StatusConflict || busy.at("code") != "OperationNotAllowed" {
			t.Errorf("a second operation meanwhile: %+v", busy)
		}
		ended := anybody.follow(t, got.header.Get("Azure-AsyncOperation"))
		if ended.at("status") != "Succeeded" || ended.at("endTime") == nil {
			t.Fatalf("it ended %+v", ended)
		}
		got = anybody.ask(t, "GET", inCluster+"/agentPools/raw"+version, "")
		if got.at("properties", "provisioningState") != "Succeeded" {
			t.Errorf("the pool is %+v", got)
		}
	})

	t.Run("a pool is deleted and its operation is followed by either header", func(t *testing.T) {
		got := anybody.ask(t, "DELETE", inCluster+"/agentPools/raw"+version, "")
		if got.status != http.StatusAccepted || got.header.Get("Retry-After") == "" {
			t.Fatalf("got %+v", got)
		}
		if ended := anybody.follow(t, got.header.Get("Location")); ended.status != http.StatusNoContent {
			t.Fatalf("it ended %+v", ended)
		}
		if ended := anybody.follow(t, got.header.Get("Azure-AsyncOperation")); ended.at("status") != "Succeeded" {
			t.Fatalf("its status is %+v", ended)
		}
		got = anybody.ask(t, "GET", inCluster+"/agentPools/raw"+version, "")
		if got.status != http.StatusNotFound || got.at("code") != "NotFound" {
			t.Errorf("the pool is %+v", got)
		}
		if got := anybody.ask(t, "DELETE", inCluster+"/agentPools/raw"+version, ""); got.status != http.StatusNoContent {
			t.Errorf("deleting it again: %+v", got)
		}
	})

	t.Run("pages lead on by nextLink", func(t *testing.T) {
		since := url.QueryEscape("eventTimestamp ge '" + time.Now().Add(-24*time.Hour).UTC().Format(time.RFC3339) + "'")
		pages, events := 0, 0
		next := inSubscription +
			"/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&$filter=" + since
		for next != "" {
			got := anybody.ask(t, "GET", next, "")
			if got.status != http.StatusOK {
				t.Fatalf("page %d: %+v", pages+1, got)
			}
			values, _ := got.body["value"].([]any)
			next, _ = got.body["nextLink"].(string)
			pages, events = pages+1, events+len(values)
		}
		if pages < 3 || events < 7 {
			t.Errorf("%d events on %d pages of 3", events, pages)
		}
	})

	t.Run("invalid requests are refused as ARM refuses them", func(t *testing.T) {
		for name, row := range map[string]struct {
			method, path string
			status       int
			code         string
		}{
			"no api-version":            {"GET", inCluster, 400, "MissingApiVersionParameter"},
			"an api-version of no form": {"GET", inCluster + "?api-version=new", 400, "InvalidApiVersionParameter"},
			"an api-version of no type": {"GET", inCluster + "?api-version=2001-01-01", 400, "NoRegisteredProviderFound"},
			"another subscription": {
				"GET", "/subscriptions/00000000-0000-4000-8000-000000000000/resourceGroups?api-version=2021-04-01",
				404, "SubscriptionNotFound",
			},
			"a resource group of no name": {
				"GET", inSubscription + "/resourceGroups/none?api-version=2021-04-01", 404, "ResourceGroupNotFound",
			},
			"another cluster": {
				"GET", strings.Replace(inCluster, cluster, "aks-2", 1) + version, 404, "ResourceNotFound",
			},
			"a path that nobody knows": {"GET", inSubscription + "/quantum" + version, 501, "NotImplemented"},
			"a provider that nobody has": {
				"GET", inSubscription + "/providers/Contoso.Things?api-version=2021-04-01",
				501, "NotImplemented",
			},
		} {
			got := anybody.ask(t, row.method, row.path, "")
			if got.status != row.status || got.at("error", "code") != row.code || got.at("error", "message") == "" {
				t.Errorf("%s: %d %v, want %d %s", name, got.status, got.body, row.status, row.code)
			}
		}
		stranger := &anybodyWithoutToken{anybody}
		if got := stranger.ask(t, inCluster+version); got != http.StatusUnauthorized {
			t.Errorf("without a token: %d", got)
		}
	})

	t.Run("a client that looks around finds its way to the cluster", func(t *testing.T) {
		for path, want := range map[string]string{
			"/tenants?api-version=2022-12-01":                                                  "/tenants/",
			"/subscriptions?api-version=2022-12-01":                                            subscription,
			inSubscription + "/resourcegroups?api-version=2024-11-01":                          "/resourceGroups/fleet",
			inSubscription + "/providers?api-version=2021-04-01":                               "Microsoft.ContainerService",
			inSubscription + "/providers/Microsoft.ContainerService/managedClusters" + version: "managedClusters/aks-1",
			inCluster + "/agentPools" + version:                                                "/agentPools/system",
		} {
			got := anybody.ask(t, "GET", path, "")
			values, _ := got.body["value"].([]any)
			if got.status != http.StatusOK || len(values) == 0 || !strings.Contains(fmt.Sprint(values...), want) {
				t.Errorf("%s: %d %v, want %s in it", path, got.status, got.body, want)
			}
		}
		got := anybody.ask(t, "HEAD", inSubscription+"/resourceGroups/"+group+"?api-version=2021-04-01", "")
		if got.status != http.StatusNoContent {
			t.Errorf("HEAD of the resource group: %d", got.status)
		}
	})
}

// anybodyWithoutToken forgot to log in.
type anybodyWithoutToken struct{ *anybody }

func (a *anybodyWithoutToken) ask(t *testing.T, path string) int {
	t.Helper()
	response, err := a.Get(a.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

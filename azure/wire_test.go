package azure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/utils/clock"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/permit"
)

const (
	subscription   = "00000000-0000-4000-8000-00000000000a"
	inSubscription = "/subscriptions/" + subscription
	clusterPath    = inSubscription + "/resourceGroups/fleet/providers/Microsoft.ContainerService/managedClusters/aks-1"
	poolPath       = clusterPath + "/agentPools/system"
	operations     = inSubscription + "/providers/Microsoft.ContainerService/locations/westeurope/operations/1"
)

var pool = azure.PoolName{ResourceGroup: "fleet", Cluster: "aks-1", Pool: "system"}

type staticToken struct{}

func (staticToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "secret", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// roundTrip is a transport from a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// clientOf makes a client of an ARM at an address.
func clientOf(
	t *testing.T, endpoint string, transport http.RoundTripper, credential azcore.TokenCredential,
) *azure.Client {
	t.Helper()
	client, err := azure.New(azure.Options{
		Subscription: subscription, Credential: credential, Transport: transport, Clock: clock.RealClock{},
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: endpoint, Audience: endpoint},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// reply is one answer of a scripted ARM.
type reply struct {
	status int
	body   string
	header map[string]string
}

// scripted makes a client of an ARM that answers by method and path, on virtual
// time. What the script doesn't know fails the test.
func scripted(t *testing.T, script map[string]reply, test func(*testing.T, *azure.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, clientOf(t, "https://arm", roundTrip(func(request *http.Request) (*http.Response, error) {
			answer, known := script[request.Method+" "+request.URL.Path]
			if !known {
				t.Errorf("unexpected request: %s %s", request.Method, request.URL)
				return nil, errors.New("not scripted")
			}
			header := http.Header{"Content-Type": {"application/json"}}
			for key, value := range answer.header {
				header.Set(key, value)
			}
			return &http.Response{
				StatusCode: answer.status, Header: header, Body: io.NopCloser(strings.NewReader(answer.body)), Request: request,
			}, nil
		}), staticToken{}))
	})
}

func refusedWith(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"told"}}`, code)
}

func permitted() context.Context { return permit.NewContext(context.Background(), granted()) }

// TestTokenGoesToARMOnly: whatever an answer or a record names, nobody but ARM is
// sent a request, and so a token.
func TestTokenGoesToARMOnly(t *testing.T) {
	var stolen atomic.Int32
	evil := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"Succeeded","value":[]}`) // to the thief
	}))
	defer evil.Close()
	remove := func(client *azure.Client) error {
		operation, err := client.DeletePool(permitted(), pool, "etag", azure.DeletePoolOptions{})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if token, ok := operation.Token(); ok {
			t.Errorf("an operation that can't be polled has a token: %+v", token)
		}
		return operation.Wait(ctx)
	}
	list := func(client *azure.Client) error {
		_, err := client.ScaleSets(context.Background(), "nodes", "system")
		return err
	}
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter, arm string)
		call   func(*azure.Client) error
		want   string
		// accepted: the change may have happened.
		accepted bool
	}{
		"next page": {call: list, want: "is not at the ARM endpoint", answer: func(w http.ResponseWriter, _ string) {
			_, _ = fmt.Fprintf(w, `{"value":[],"nextLink":"%s/next"}`, evil.URL)
		}},
		"Azure-AsyncOperation": {call: remove, accepted: true, want: "operation URL https://127.0.0.1",
			answer: func(w http.ResponseWriter, _ string) {
				w.Header().Set("Azure-AsyncOperation", evil.URL+operations)
				w.WriteHeader(http.StatusAccepted)
			}},
		"Location": {call: remove, accepted: true, want: "is not at the ARM endpoint",
			answer: func(w http.ResponseWriter, _ string) {
				w.Header().Set("Location", evil.URL+operations)
				w.WriteHeader(http.StatusAccepted)
			}},
		"without TLS": {call: remove, accepted: true, want: "is not at the ARM endpoint",
			answer: func(w http.ResponseWriter, arm string) {
				w.Header().Set("Location", strings.Replace(arm, "https://", "http://", 1)+operations)
				w.WriteHeader(http.StatusAccepted)
			}},
		"another port": {call: remove, accepted: true, want: "is not at the ARM endpoint",
			answer: func(w http.ResponseWriter, _ string) {
				w.Header().Set("Location", "https://127.0.0.1:1"+operations)
				w.WriteHeader(http.StatusAccepted)
			}},
		"ARM as the user's name": {call: remove, accepted: true, want: "is not at the ARM endpoint",
			answer: func(w http.ResponseWriter, arm string) {
				w.Header().Set("Location", "https://"+strings.TrimPrefix(arm, "https://")+"@"+
					strings.TrimPrefix(evil.URL, "https://"))
				w.WriteHeader(http.StatusAccepted)
			}},
		"redirect of a read": {call: list, want: "ARM answered 307", answer: func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", evil.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		"redirect of a change": {call: remove, want: "ARM answered 307", answer: func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", evil.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var arm *httptest.Server
			arm = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				row.answer(w, arm.URL)
			}))
			defer arm.Close()
			err := row.call(clientOf(t, arm.URL, evil.Client().Transport, staticToken{}))
			class := apierr.Terminal
			if row.accepted {
				class = apierr.Transient
			}
			if err == nil || apierr.ClassOf(err) != class || errors.Is(err, azure.ErrOperationLost) != row.accepted ||
				!strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v of class %s, want %q", err, apierr.ClassOf(err), row.want)
			}
		})
	}
	if stolen.Load() > 0 {
		t.Errorf("%d requests with the token went to another host", stolen.Load())
	}
}

// TestTransportRefusesOtherHosts: also for a request that did not come through the
// SDK's pipeline.
func TestTransportRefusesOtherHosts(t *testing.T) {
	endpoint, err := url.Parse("https://arm.test/gateway")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{
		"https://arm.test/subscriptions": true, "https://ARM.test:443/subscriptions": true,
		"http://arm.test/subscriptions": false, "https://arm.test:444/": false, "https://arm.test.evil/": false,
		"https://evil/arm.test": false, "https://arm.test@evil/": false, "https://somebody@arm.test/": false,
		"https:arm.test": false,
	} {
		sent := false
		transport := azure.NewTransport(roundTrip(func(*http.Request) (*http.Response, error) {
			sent = true
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		}), endpoint)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = transport.Do(request)
		if sent != want || (err == nil) != want || err != nil && apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("%s: sent %v, error %v", target, sent, err)
		}
	}
	request := httptest.NewRequest(http.MethodGet, "https://arm.test/", nil)
	request.Host = "evil"
	if _, err := azure.NewTransport(roundTrip(nil), endpoint).Do(request); err == nil {
		t.Error("a request with another host's header was sent")
	}
}

// TestNoChangeLeavesWithoutPermit: at the wire, whichever method of the client is
// called.
func TestNoChangeLeavesWithoutPermit(t *testing.T) {
	var sent atomic.Int32
	arm := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	defer arm.Close()
	client := clientOf(t, arm.URL, arm.Client().Transport, staticToken{})
	expired := permit.Mint(permit.Terms{
		Expires: time.Now(), Now: time.Now, Lease: func(context.Context) error { return nil },
	})
	leaseLost := func(context.Context) error { return apierr.New(apierr.Conflict, "lease lost") }
	lost := permit.Mint(permit.Terms{Expires: time.Now().Add(time.Hour), Now: time.Now, Lease: leaseLost})
	for what, ctx := range map[string]context.Context{
		"no permit": t.Context(), "a zero permit": permit.NewContext(t.Context(), permit.Permit{}),
		"an expired permit": permit.NewContext(t.Context(), expired), "a lost lease": permit.NewContext(t.Context(), lost),
	} {
		for name, change := range map[string]func() error{
			"PUT":        func() error { _, err := client.CreatePool(ctx, pool, azure.Definition(`{}`)); return err },
			"DELETE":     func() error { _, err := client.DeletePool(ctx, pool, "etag", azure.DeletePoolOptions{}); return err },
			"POST abort": func() error { _, err := client.AbortCluster(ctx, "fleet", "aks-1"); return err },
			"PATCH":      func() error { return client.MergeTag(ctx, clusterPath, "tag", "text") },
			"deployment": func() error {
				_, err := client.Deploy(ctx, azure.DeploymentName{ResourceGroup: "fleet", Name: "d"}, azure.DeploymentBody{Template: []byte(`{}`)})
				return err
			},
		} {
			if err := change(); err == nil || apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("%s with %s: %v of class %s", name, what, err, apierr.ClassOf(err))
			}
		}
	}
	if sent.Load() > 0 {
		t.Errorf("%d changes left without a permit", sent.Load())
	}
}

func TestExemptions(t *testing.T) {
	const inGroup, deployments = "/subscriptions/s/resourceGroups/g", "/providers/Microsoft.Resources/deployments/"
	for request, want := range map[string]string{
		"POST " + clusterPath + "/listClusterUserCredential":                                       "user credentials",
		"POST " + strings.ToUpper(clusterPath) + "/listClusterUserCredential":                      "user credentials",
		"POST " + clusterPath + "/listClusterAdminCredential":                                      "",
		"POST " + clusterPath + "/abort":                                                           "",
		"POST " + poolPath + "/abort":                                                              "",
		"POST " + poolPath + "/listClusterUserCredential":                                          "",
		"POST " + clusterPath + "%2Fabort/listClusterUserCredential/x":                             "",
		"PUT " + clusterPath + "/listClusterUserCredential":                                        "",
		"DELETE " + poolPath:                                                                       "",
		"POST /subscriptions/s" + deployments + "d/whatIf":                                         "what-if",
		"POST " + inGroup + deployments + "d/whatIf":                                               "what-if",
		"POST " + inGroup + deployments + "d/validate":                                             "validate",
		"POST " + inGroup + deployments + "d/cancel":                                               "",
		"PUT " + inGroup + deployments + "whatIf":                                                  "",
		"POST " + inGroup + "/providers/Microsoft.Compute/virtualMachines/v/runCommand/d/validate": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		made := httptest.NewRequest(method, "https://arm"+path+"?api-version=1", nil)
		if name, ok := azure.Exempt(made); name != want || ok != (want != "") {
			t.Errorf("%s: exempt as %q, %v; want %q", request, name, ok, want)
		}
	}
}

// TestLostAnswerOfAChangeMayHaveHappened: a class that says that nothing happened
// would have the change repeated, or the run closed.
func TestLostAnswerOfAChangeMayHaveHappened(t *testing.T) {
	for name, row := range map[string]struct {
		answer roundTrip
		want   apierr.Class
	}{
		"body cut off": {want: apierr.Transient, answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: io.NopCloser(cut{})}, nil
		}},
		"no answer": {want: apierr.Transient, answer: func(*http.Request) (*http.Response, error) {
			return nil, errors.New("connection reset")
		}},
		"a proxy's page": {want: apierr.Transient, answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
				Body: io.NopCloser(strings.NewReader("<html>")),
			}, nil
		}},
		"an endless body": {want: apierr.Transient, answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
		}},
		"a proxy's 404": {want: apierr.Transient, answer: func(request *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusNotFound, Header: http.Header{}, Request: request,
				Body: io.NopCloser(strings.NewReader("<html>")),
			}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := clientOf(t, "https://arm", row.answer, staticToken{}).AbortCluster(permitted(), "fleet", "aks-1")
				if err == nil || apierr.ClassOf(err) != row.want {
					t.Errorf("got %v of class %s", err, apierr.ClassOf(err))
				}
			})
		})
	}
}

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type endless struct{}

func (endless) Read(into []byte) (int, error) { return len(into), nil }

type noToken struct{}

func (noToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, unavailable{}
}

type unavailable struct{}

func (unavailable) Error() string { return "no credential" }
func (unavailable) NonRetriable() {}

func TestWithoutTokenNothingIsSeen(t *testing.T) {
	client := clientOf(t, "https://arm", roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("never")
	}), noToken{})
	if _, err := client.Cluster(t.Context(), "fleet", "aks-1"); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("got %v of class %s", err, apierr.ClassOf(err))
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	huge := `{"value":["` + strings.Repeat("x", 65<<20) + `"]}`
	const sets = inSubscription + "/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachineScaleSets"
	for name, row := range map[string]struct {
		answer reply
		want   string
	}{
		"too large": {reply{status: 200, body: huge}, "answer is larger than"},
		"a proxy's page": {reply{status: 200, body: "<html>", header: map[string]string{"Content-Type": "text/html"}},
			"is not JSON but text/html"},
		"not JSON":              {reply{status: 200, body: "<html>"}, "not as documented"},
		"no list":               {reply{status: 200, body: `{}`}, "has no list"},
		"null for a list":       {reply{status: 200, body: `{"value":null}`}, "has no list"},
		"a page after the same": {reply{status: 200, body: `{"value":[],"nextLink":"https://arm` + sets + `?api-version=2024-07-01"}`}, "the next page is the same page"},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, map[string]reply{"GET " + sets: row.answer}, func(t *testing.T, client *azure.Client) {
				_, err := client.ScaleSets(t.Context(), "nodes", "system")
				if err == nil || apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v of class %s, want %q", err, apierr.ClassOf(err), row.want)
				}
			})
		})
	}
}

package served_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"salve/internal/azuresim"
	"salve/internal/azuresim/served"
	"salve/internal/kubetest"
)

// faster is how much faster than a scenario these tests live.
const faster = 100

// patience bounds every wait of these tests.
const patience = time.Minute

// apps are made without a namespace of their own, which would take Kubernetes five seconds to remove.
const apps = "apps: [{namespace: default, name: frontend, replicas: 4, minAvailable: 2}]\n"

// serve serves a scenario, of these lines of its file, until the test ends.
func serve(t *testing.T, plane *kubetest.ControlPlane, lines string, change func(*served.Options)) *served.Server {
	t.Helper()
	scenario, err := azuresim.Parse("test.yaml", []byte("shows: a test\nexpect: remediated\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	if scenario, err = scenario.Accelerated(faster); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := served.ReadKubeconfig(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	options := served.Options{
		Scenario: scenario, Kubeconfig: kubeconfig, RemoveAtEnd: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&options)
	}
	server, err := served.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

// client trusts the server's authority and nothing else.
func client(t *testing.T, server *served.Server) *http.Client {
	t.Helper()
	authority, err := os.ReadFile(server.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		t.Fatal("no certificate in the authority's file")
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

const (
	subscription = "5a1e0000-0000-4000-8000-000000000001"
	group        = "fleet"
	cluster      = "aks-1"
)

// pools is the SDK's own client, which logs in by a secret and repeats nothing.
func pools(t *testing.T, server *served.Server) *armcontainerservice.AgentPoolsClient {
	t.Helper()
	options := policy.ClientOptions{Transport: client(t, server), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: server.URL(),
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Audience: server.URL(), Endpoint: server.URL()},
			},
		}}
	credential, err := azidentity.NewClientSecretCredential("7e4a4700-0000-4000-8000-000000000002", "somebody", "a secret",
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	made, err := armcontainerservice.NewAgentPoolsClient(subscription, credential,
		&arm.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func createPool(t *testing.T, pools *armcontainerservice.AgentPoolsClient, name string, count int32) {
	t.Helper()
	poller, err := pools.BeginCreateOrUpdate(t.Context(), group, cluster, name, armcontainerservice.AgentPool{
		Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
			Mode: to.Ptr(armcontainerservice.AgentPoolModeUser), Count: to.Ptr(count), VMSize: to.Ptr("Standard_D4ds_v5"),
			NodeLabels: map[string]*string{"colour": to.Ptr("blue")}, NodeTaints: []*string{to.Ptr("only=this:NoSchedule")},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func deletePool(t *testing.T, pools *armcontainerservice.AgentPoolsClient, name string) {
	t.Helper()
	if err := deletePoolWith(t, pools, name, nil); err != nil {
		t.Fatal(err)
	}
}

func deletePoolWith(t *testing.T, pools *armcontainerservice.AgentPoolsClient, name string, ignoreBudgets *bool) error {
	t.Helper()
	poller, err := pools.BeginDelete(t.Context(), group, cluster, name,
		&armcontainerservice.AgentPoolsClientBeginDeleteOptions{IgnorePodDisruptionBudget: ignoreBudgets})
	if err != nil {
		t.Fatal(err)
	}
	_, err = poller.PollUntilDone(t.Context(), nil)
	return err
}

// control asks the control endpoint and reads its answer into what is given.
func control(t *testing.T, server *served.Server, method, path, body string, into any) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.ControlURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client(t, server).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return response.StatusCode
}

// eventually waits until what is asked holds.
func eventually(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !holds(ctx) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

// userCredential asks ARM for the cluster's kubeconfig.
func userCredential(t *testing.T, server *served.Server) []byte {
	t.Helper()
	got := login(t, server).ask(t, "POST", inCluster+"/listClusterUserCredential"+version, "")
	var answer struct {
		Kubeconfigs []struct{ Value []byte }
	}
	text, err := json.Marshal(got.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Kubeconfigs) != 1 {
		t.Fatalf("got %s: %v", text, err)
	}
	return answer.Kubeconfigs[0].Value
}

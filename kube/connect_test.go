package kube_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/kube"
)

// counting is a credential that gives another token each time.
type counting struct {
	scopes []string
	given  int
}

func (c *counting) GetToken(_ context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	c.given++
	c.scopes = options.Scopes
	return azcore.AccessToken{Token: fmt.Sprintf("token-%d", c.given), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// TestExecPluginIsReplacedByFreshTokens: what AKS hands out for a cluster with
// Entra ID names kubelogin, which is neither there nor run.
func TestExecPluginIsReplacedByFreshTokens(t *testing.T) {
	var seen []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		seen = append(seen, request.Header.Get("Authorization"))
		response.Header().Set("Content-Type", "application/json")
		fmt.Fprint(response, `{"kind":"NodeList","apiVersion":"v1","items":[]}`)
	}))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	kubeconfig := fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: aks
clusters: [{name: aks, cluster: {server: %s, certificate-authority-data: %s}}]
contexts: [{name: aks, context: {cluster: aks, user: entra}}]
users:
  - name: entra
    user:
      exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin-that-is-not-there,
      args: [get-token], interactiveMode: Never}
`, server.URL, base64.StdEncoding.EncodeToString(authority))
	credential := &counting{}
	cluster, err := kube.Connect([]byte(kubeconfig), credential, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := cluster.Client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Bearer token-1", "Bearer token-2"}; !slices.Equal(seen, want) {
		t.Errorf("sent %v, want %v", seen, want)
	}
	if want := []string{"6dae42f8-4368-4678-94ff-3960e28e3630/.default"}; !slices.Equal(credential.scopes, want) {
		t.Errorf("asked for %v, want %v", credential.scopes, want)
	}
	if _, err := kube.Connect([]byte(kubeconfig), nil, clock.RealClock{}); err == nil {
		t.Error("connected without a credential")
	}
	if _, err := kube.Connect([]byte("no kubeconfig"), credential, clock.RealClock{}); err == nil {
		t.Error("connected by what is no kubeconfig")
	}
}

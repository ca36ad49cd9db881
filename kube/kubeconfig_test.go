package kube_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"salve/internal/apierr"
	"salve/kube"
)

// tokens gives the same token each time, for the API server of AKS alone.
type tokens struct{}

func (tokens) GetToken(_ context.Context, asked policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token-for-" + strings.Join(asked.Scopes, ","), ExpiresOn: time.Now()}, nil
}

func TestStandalone(t *testing.T) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: c\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\n" +
		"clusters: [{name: c, cluster: {server: https://c.example}}]\n"
	const entra = head + "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, " +
		"command: kubelogin, interactiveMode: Never}}}]\n"
	made, err := kube.Standalone(t.Context(), []byte(entra), tokens{})
	if err != nil || strings.Contains(string(made), "kubelogin") ||
		!strings.Contains(string(made), "token: token-for-6dae42f8-4368-4678-94ff-3960e28e3630/.default") {
		t.Errorf("made %s, %v", made, err)
	}
	if _, err := kube.Standalone(t.Context(), []byte(entra), nil); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("without a credential: %v", err)
	}
	made, err = kube.Standalone(t.Context(), []byte(head+"users: [{name: u, user: {token: own}}]\n"), tokens{})
	if err != nil || !strings.Contains(string(made), "token: own") {
		t.Errorf("made %s, %v", made, err)
	}
	const former = head + "users: [{name: u, user: {auth-provider: {name: azure, config: {tenant-id: t}}}}]\n"
	made, err = kube.Standalone(t.Context(), []byte(former), tokens{})
	if err != nil || strings.Contains(string(made), "auth-provider") ||
		!strings.Contains(string(made), "token: token-for-") {
		t.Errorf("of an auth provider: made %s, %v", made, err)
	}
	if _, err := kube.Standalone(t.Context(), []byte("users: {"), tokens{}); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("of no kubeconfig: %v", err)
	}
}

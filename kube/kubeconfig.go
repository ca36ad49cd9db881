package kube

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/apierr"
)

// Standalone is a kubeconfig for a program that has no credential of its own: where the cluster requires a token of
// Entra ID, one is written into it, which ends after an hour or so. It is a secret.
func Standalone(ctx context.Context, kubeconfig []byte, credential azcore.TokenCredential) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid kubeconfig of the cluster: %w", err)
	}
	for _, user := range config.AuthInfos {
		if user.Exec == nil && user.AuthProvider == nil {
			continue
		}
		if credential == nil {
			return nil, apierr.New(apierr.Denied, "no credential: the cluster requires a token of Entra ID")
		}
		token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{serverScope}})
		if err != nil {
			return nil, fmt.Errorf("getting a token for the cluster's API: %w", err)
		}
		user.Exec, user.AuthProvider, user.Token = nil, nil, token.Token
	}
	return clientcmd.Write(*config)
}

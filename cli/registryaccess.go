package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"salve/internal/registry"
)

// dockerConfig is the variable by which docker's programs find credentials. It is passed on by name alone.
const dockerConfig = "DOCKER_CONFIG"

// registryAccess is how steps sign in to registries.
type registryAccess struct {
	cloud cloudFlags
	pass  []string
}

// login signs in to a registry of the cloud as whoever runs this, and elsewhere with what is passed on.
func (r registryAccess) login(ctx context.Context, azure registry.Azure, host string) (authn.Authenticator, error) {
	if azure.Owns(host) {
		return azure.Login(ctx, host)
	}
	return r.passedOn(host)
}

// passedOn is what the docker configuration of whoever runs this says of a host, where that is passed on.
func (r registryAccess) passedOn(host string) (authn.Authenticator, error) {
	if !slices.Contains(r.pass, dockerConfig) {
		return authn.Anonymous, nil
	}
	where, err := name.NewRegistry(host)
	if err != nil {
		return nil, err
	}
	return authn.DefaultKeychain.Resolve(where)
}

// cloudSuffixes end the hosts of each cloud's registries and vaults.
func cloudSuffixes() map[string][2]string {
	return map[string][2]string{
		"public": {"azurecr.io", "vault.azure.net"}, "china": {"azurecr.cn", "vault.azure.cn"},
		"usgov": {"azurecr.us", "vault.usgovcloudapi.net"},
	}
}

// azure reaches the registries and vaults of the cloud. It makes no call.
func (r registryAccess) azure() (registry.Azure, http.RoundTripper, error) {
	credential, options, err := r.cloud.credential()
	if err != nil {
		return registry.Azure{}, nil, err
	}
	suffixes := cloudSuffixes()[r.cloud.name]
	var transport http.RoundTripper
	if client, ok := options.Transport.(*http.Client); ok && client != nil {
		transport = client.Transport
	}
	return registry.Azure{
		Transport: transport, RegistrySuffix: suffixes[0], VaultSuffix: suffixes[1],
		Token: func(ctx context.Context, scope string) (string, error) {
			token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
			if err != nil {
				return "", fmt.Errorf("getting a token for %s: %w", strings.TrimSuffix(scope, "/.default"), err)
			}
			return token.Token, nil
		},
	}, transport, nil
}

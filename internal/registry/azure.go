package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// Azure signs in to the registries of Azure, and reads pull secrets from its key vaults.
type Azure struct {
	// Token gives a token of Entra ID for a scope.
	Token func(ctx context.Context, scope string) (string, error)
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// RegistrySuffix and VaultSuffix end the hosts of the cloud's registries and vaults, such as azurecr.io and
	// vault.azure.net.
	RegistrySuffix, VaultSuffix string
}

const (
	// registryScope is that of tokens for Azure's registries:
	// https://learn.microsoft.com/azure/container-registry/container-registry-authentication
	registryScope = "https://containerregistry.azure.net/.default"
	// tokenUser is the name that goes with a token in the place of a password; see there.
	tokenUser = "00000000-0000-0000-0000-000000000000"
	// maxSecret bounds what a vault or a registry may answer.
	maxSecret = 256 << 10
)

// registryLabel is a registry's name, or the label of its host, which has a hash behind a dash:
// https://learn.microsoft.com/azure/container-registry/container-registry-get-started-portal
var registryLabel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{4,66}$`)

// ValidateNameOrHost refuses what is neither the name of a registry in Azure nor a host.
func ValidateNameOrHost(named string) error {
	if strings.ContainsAny(named, ".:") {
		return ValidateHost(named)
	}
	if !registryLabel.MatchString(named) {
		return fmt.Errorf("%q is no registry's name in Azure, which has at least 5 letters and digits, and no host", named)
	}
	return nil
}

// Host is a registry's host, of its name in Azure; a host is taken as it is.
func (a Azure) Host(registry string) string {
	if strings.ContainsAny(registry, ".:") {
		return registry
	}
	return registry + "." + a.RegistrySuffix
}

// Owns tells whether a host is one of the cloud's registries.
func (a Azure) Owns(host string) bool {
	name, found := strings.CutSuffix(host, "."+a.RegistrySuffix)
	return found && name != "" && !strings.ContainsAny(name, ":/")
}

// Login exchanges a token of Entra ID for one of a registry of the cloud.
func (a Azure) Login(ctx context.Context, host string) (authn.Authenticator, error) {
	if !a.Owns(host) {
		return nil, apierr.New(apierr.Terminal, "%s is no registry of Azure", host)
	}
	token, err := a.Token(ctx, registryScope)
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"access_token"}, "service": {host}, "access_token": {token}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/oauth2/exchange",
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := a.ask(request, &answer); err != nil {
		return nil, fmt.Errorf("exchanging a token with %s: %w", host, err)
	}
	if answer.RefreshToken == "" {
		return nil, apierr.New(apierr.Terminal, "exchanging a token with %s: the answer holds none", host)
	}
	return authn.FromConfig(authn.AuthConfig{Username: tokenUser, Password: answer.RefreshToken}), nil
}

// PullSecret reads what a vault keeps for pulling from other registries, in the form of a docker configuration, and
// gives what is for a host.
func (a Azure) PullSecret(ctx context.Context, vault, secret, host string) (authn.Authenticator, error) {
	if vault == "" || secret == "" || strings.ContainsAny(vault+secret, "/.?#:@") {
		return nil, apierr.New(apierr.Terminal, "vault %q, secret %q: they must be names", vault, secret)
	}
	token, err := a.Token(ctx, "https://"+a.VaultSuffix+"/.default")
	if err != nil {
		return nil, err
	}
	where := "https://" + vault + "." + a.VaultSuffix + "/secrets/" + secret + "?api-version=7.4"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	var answer struct {
		Value string `json:"value"`
	}
	if err := a.ask(request, &answer); err != nil {
		return nil, fmt.Errorf("reading secret %s of vault %s: %w", secret, vault, err)
	}
	found, err := fromConfiguration(answer.Value, host)
	if err != nil { // the cause may hold a part of the secret
		return nil, apierr.New(apierr.Terminal, "secret %s of vault %s is no docker configuration, plain or in base64",
			secret, vault)
	}
	if found == nil {
		return nil, apierr.New(apierr.Terminal, "secret %s of vault %s holds nothing for registry %s", secret, vault, host)
	}
	return authn.FromConfig(*found), nil
}

// fromConfiguration reads a docker configuration, which may be in base64, as vaults keep files.
func fromConfiguration(text, host string) (*authn.AuthConfig, error) {
	raw := []byte(strings.TrimSpace(text))
	if decoded, err := base64.StdEncoding.DecodeString(string(raw)); err == nil {
		raw = decoded
	}
	var held struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	if err := json.Unmarshal(raw, &held); err != nil {
		return nil, err
	}
	for key, config := range held.Auths {
		name := strings.TrimSuffix(strings.TrimPrefix(key, "https://"), "/")
		if name == host || strings.TrimSuffix(name, "/v1") == host || strings.TrimSuffix(name, "/v2") == host {
			return &config, nil
		}
	}
	return nil, nil
}

// exchange is the one request without a permit that is no GET: it changes a token for another one.
func exchange(request *http.Request) (name string, ok bool) {
	return "registry-token-exchange", request.Method == http.MethodPost && request.URL.Path == "/oauth2/exchange"
}

// ask sends a request that changes nothing, and reads the answer.
func (a Azure) ask(request *http.Request, into any) error {
	base := a.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	wire := &permit.Transport{Base: base, Exempt: exchange}
	response, err := wire.RoundTrip(request) // no redirection is followed: it would take the token elsewhere
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return statusError(response.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxSecret+1))
	switch {
	case err != nil:
		return err
	case len(raw) > maxSecret:
		return apierr.New(apierr.Terminal, "the answer has more than %d bytes", maxSecret)
	}
	if json.Unmarshal(raw, into) != nil { // the cause may hold a part of a secret
		return apierr.New(apierr.Terminal, "the answer is no JSON")
	}
	return nil
}

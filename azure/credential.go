package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"salve/internal/apierr"
)

// Credential gives the tokens of a credential, and classifies why there is none, in one line. The credential was made
// with the token service as its transport; nil where it has another one.
func Credential(credential azcore.TokenCredential, service *TokenService) azcore.TokenCredential {
	if already, ok := credential.(tokens); ok {
		return already
	}
	return tokens{credential, service}
}

type tokens struct {
	credential azcore.TokenCredential
	service    *TokenService
}

func (t tokens) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.credential.GetToken(ctx, options)
	if err == nil || ctx.Err() != nil {
		return token, err
	}
	var unauthenticated *azidentity.AuthenticationFailedError
	var unavailable interface {
		error
		NonRetriable()
	}
	if failure := t.service.failure(err); failure != nil {
		return token, fmt.Errorf("reaching the token service: %w", failure)
	}
	switch {
	case errors.As(err, &unauthenticated):
		worded := error(&noCredentialError{err})
		if tokenRefused(unauthenticated.RawResponse) {
			worded = &apierr.PermanentError{Err: worded}
		}
		return token, &apierr.Error{Class: apierr.Denied, Err: worded}
	case errors.As(err, &unavailable):
		return token, &apierr.Error{Class: apierr.Denied, Err: &apierr.PermanentError{Err: &noCredentialError{err}}}
	}
	return token, err
}

// tokenRefused tells whether the token service has answered no, rather than not at all.
func tokenRefused(response *http.Response) bool {
	return response != nil && response.StatusCode >= 400 && response.StatusCode < 500 &&
		response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusRequestTimeout
}

// noCredentialError words the SDK's error in one line, where the SDK would print a page.
type noCredentialError struct{ err error }

func (e *noCredentialError) Unwrap() error { return e.err }

// The lines of DefaultAzureCredential's error, one for each credential that it tried, and the code that Entra ID gives
// (https://learn.microsoft.com/entra/identity-platform/reference-error-codes).
var (
	triedCredential = regexp.MustCompile(`(?m)^\t(\w+Credential)\b`)
	entraCode       = regexp.MustCompile(`AADSTS\d+: [^"\\]+`)
)

func (e *noCredentialError) Error() string {
	const hint = "hint: az login, or the environment's AZURE_TENANT_ID, AZURE_CLIENT_ID and a secret or token"
	text := e.err.Error()
	if code := entraCode.FindString(text); code != "" {
		return fmt.Sprintf("unauthorized: no token for Azure: %s. %s", strings.TrimRight(short(code), ". "), hint)
	}
	var tried []string
	for _, found := range triedCredential.FindAllStringSubmatch(text, -1) {
		tried = append(tried, found[1])
	}
	if len(tried) > 0 {
		return fmt.Sprintf("unauthorized: no credential for Azure (tried %s). %s", strings.Join(tried, ", "), hint)
	}
	return fmt.Sprintf("unauthorized: no credential for Azure: %s. %s", strings.TrimRight(short(text), ". "), hint)
}

package azure_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"salve/azure"
	"salve/internal/apierr"
)

// asking is a credential that asks addresses, one after the other, and keeps nothing of why one did not answer, as the
// SDK's do.
type asking struct {
	service   *azure.TokenService
	addresses []string
	// whole: the error of the transport is given as it is.
	whole bool
}

func (a asking) GetToken(ctx context.Context, _ policy.TokenRequestOptions) (azcore.AccessToken, error) {
	var failure error
	for _, address := range a.addresses {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
		if err != nil {
			return azcore.AccessToken{}, err
		}
		response, err := a.service.RoundTrip(request)
		if failure = err; err == nil {
			_ = response.Body.Close()
		}
	}
	if a.whole {
		return azcore.AccessToken{}, failure
	}
	return azcore.AccessToken{}, &azidentity.AuthenticationFailedError{}
}

// TestTokenServiceThatCannotBeReached is told from one that gives no token.
func TestTokenServiceThatCannotBeReached(t *testing.T) {
	const unreached = "reaching the token service: "
	const refused, answers, metadata = "https://refused/token", "https://answers/token", "http://169.254.169.254/token"
	for name, row := range map[string]struct {
		addresses []string
		whole     bool
		permanent bool
		says      string
	}{
		"nothing listens":                          {[]string{refused}, false, true, unreached},
		"nothing listens, and it is said":          {[]string{refused}, true, true, unreached},
		"it answers":                               {[]string{answers}, false, false, "unauthorized: no credential"},
		"it answers in the end":                    {[]string{refused, answers}, false, false, "unauthorized: no credential"},
		"it does not any more":                     {[]string{answers, refused}, false, true, unreached},
		"no machine of Azure":                      {[]string{metadata}, false, false, "unauthorized: no credential"},
		"no machine of Azure, nothing listens":     {[]string{refused, metadata}, false, true, unreached},
		"a machine of Azure that is not ready yet": {[]string{metadata}, true, false, "connection refused"},
	} {
		service := &azure.TokenService{Base: roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.URL.Host == "answers" {
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			}
			return nil, syscall.ECONNREFUSED
		})}
		credential := azure.Credential(asking{service, row.addresses, row.whole}, service)
		_, err := credential.GetToken(t.Context(), policy.TokenRequestOptions{})
		if apierr.IsPermanent(err) != row.permanent || err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q, permanent %v", name, err, row.says, row.permanent)
		}
		if strings.HasPrefix(row.says, "reaching") && apierr.ClassOf(err) != apierr.Transient {
			t.Errorf("%s: class %s: it was not refused", name, apierr.ClassOf(err))
		}
	}
	if _, err := azure.Credential(asking{&azure.TokenService{}, nil, false}, nil).GetToken(t.Context(),
		policy.TokenRequestOptions{}); err == nil || errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without a service of ours: %v", err)
	}
}

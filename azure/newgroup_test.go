package azure_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"salve/azure"
	"salve/internal/apierr"
)

// TestGroupThatIsMadeMeanwhile: what answered that its group is not there is read again when it has been made since.
func TestGroupThatIsMadeMeanwhile(t *testing.T) {
	script := map[string]reply{
		"GET " + groupPath: itself(groupPath), "GET " + deploymentPath: absent("DeploymentNotFound"),
		"GET " + stackPath: absent("DeploymentStackNotFound"),
	}
	for name, read := range map[string]func(*azure.Client) error{
		"deployment": func(c *azure.Client) error {
			_, err := c.Deployment(t.Context(), azure.DeploymentName{ResourceGroup: "fleet", Name: "first"})
			return err
		},
		"stack": func(c *azure.Client) error {
			_, err := c.Stack(t.Context(), azure.StackName{ResourceGroup: "fleet", Name: "first"})
			return err
		},
	} {
		first := true
		client := clientOf(t, "https://arm", roundTrip(func(request *http.Request) (*http.Response, error) {
			answer, known := script["GET "+request.URL.Path]
			if !known {
				return nil, errors.New("not scripted: " + request.URL.Path)
			}
			if first {
				answer, first = absent("ResourceGroupNotFound"), false
			}
			return &http.Response{
				StatusCode: answer.status, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(answer.body)), Request: request,
			}, nil
		}), staticToken{})
		if err := read(client); apierr.ClassOf(err) != apierr.Missing {
			t.Errorf("%s: got %v of class %s, want %s", name, err, apierr.ClassOf(err), apierr.Missing)
		}
	}
}

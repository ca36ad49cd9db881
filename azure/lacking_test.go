package azure_test

import (
	"testing"

	"salve/azure"
)

// TestLacksResource goes by codes alone: by ARM's own, and by those of the errors that it only passes on.
func TestLacksResource(t *testing.T) {
	wrapping := func(details string) string {
		return `{"error":{"code":"InvalidTemplateDeployment","message":"x","details":[` + details + `]}}`
	}
	missing := `{"code":"ResourceNotFound","message":"no vault"}`
	for name, row := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"a resource":                {404, refusedWith("ResourceNotFound"), true},
		"a group":                   {404, refusedWith("ResourceGroupNotFound"), true},
		"a parent":                  {404, refusedWith("ParentResourceNotFound"), true},
		"a subscription":            {404, refusedWith("SubscriptionNotFound"), false},
		"forbidden":                 {403, refusedWith("AuthorizationFailed"), false},
		"a proxy":                   {404, "<html>", false},
		"what a template refers to": {400, wrapping(missing), true},
		"in a message": {400, wrapping(
			`{"code":"BadRequest","message":"{\"error\":{\"code\":\"NotFound\",\"message\":\"y\"}}"}`), true},
		"and something else": {400, wrapping(missing + `,{"code":"InvalidParameter","message":"y"}`), false},
		"another mistake":    {400, wrapping(`{"code":"InvalidParameter","message":"ResourceNotFound"}`), false},
		"nothing below":      {400, wrapping(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			answer := reply{status: row.status, body: row.body}
			scripted(t, map[string]reply{"GET " + clusterPath: answer, "GET " + clustersPath: answer}, func(
				t *testing.T, client *azure.Client,
			) {
				_, err := client.Cluster(t.Context(), "fleet", "aks-1")
				if got := azure.LacksResource(err); got != row.want {
					t.Errorf("got %v of %v", got, err)
				}
			})
		})
	}
}

package azure_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"salve/azure"
	"salve/internal/apierr"
)

const somebody = "00000000-0000-4000-8000-0000000000ff"

// TestErrorsAreOneBoundedLine: what an answer says is somebody else's text.
func TestErrorsAreOneBoundedLine(t *testing.T) {
	nested := `{"code":"a","message":"b"}`
	for range 60 {
		text, err := json.Marshal(`{"error":` + nested + `}`)
		if err != nil {
			t.Fatal(err)
		}
		if nested = `{"code":"a","message":` + string(text) + `}`; len(nested) > 1<<16 {
			break
		}
	}
	for name, row := range map[string]struct {
		status int
		body   string
		want   string
		never  string
	}{
		"forbidden": {403, `{"error":{"code":"AuthorizationFailed","message":"The client 'me' with object id '` + somebody +
			`' does not have authorization to perform action 'Microsoft.ContainerService/managedClusters/read' over scope '` + clusterPath + `' or the scope is invalid."}}`,
			"forbidden: identity " + somebody + " lacks Microsoft.ContainerService/managedClusters/read on " + clusterPath +
				". hint: az role assignment create --assignee " + somebody + " --role 'Salve aks-recreate-pool' --scope '" +
				clusterPath + "'",
			"authorization",
		},
		"forbidden on what is linked": {403, `{"error":{"code":"LinkedAuthorizationFailed","message":"The client 'me' with object id '` + somebody +
			`' has permission to perform action 'Microsoft.ContainerService/managedClusters/agentPools/write' on scope '/x'; however, it ` +
			`does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '/subscriptions/s/subnets/n' (respectively)"}}`,
			"lacks Microsoft.Network/virtualNetworks/subnets/join/action on /subscriptions/s/subnets/n. hint:", "agentPools"},
		"forbidden, in a form to be pasted": {403, `{"error":{"code":"AuthorizationFailed","message":"The client 'me' with object id '` + somebody +
			`' does not have authorization to perform action 'a/read' over scope '/x'; rm -rf ~ #' or the scope is invalid."}}`, "lacks a/read on /x. hint: az role assignment create --assignee " + somebody + " --role ROLE --scope '/x' (", "rm -rf"},
		"forbidden in other words": {403, `{"error":{"code":"RequestDisallowedByPolicy","message":"no"}}`, "forbidden: ARM answered 403 RequestDisallowedByPolicy: no", ""},
		"wrong cloud": {404, refusedWith("SubscriptionNotFound"),
			"ARM answered 404 SubscriptionNotFound: told hint: wrong --cloud, tenant or subscription?", ""},
		"a proxy":               {404, "<html>", "no error code hint: the answer is not ARM's", ""},
		"a terminal's commands": {400, `{"error":{"code":"Bad\u001b[2J","message":"a\u001b]0;x\u0007\nb\u202e"}}`, "a]0;x b", "\x1b"},
		"a long message":        {400, `{"error":{"code":"Bad","message":"` + strings.Repeat("ä", 100_000) + `"}}`, "…", ""},
		"a long code":           {400, `{"error":{"code":"` + strings.Repeat("B", 100_000) + `","message":"x"}}`, "…: x", ""},
		"many details": {400, `{"error":{"code":"DeploymentFailed","message":"x","details":[{"code":"a","message":"` + strings.Repeat("x", 5000) +
			`"},{"code":"b","message":"` + strings.Repeat("y", 5000) + `"}]}}`, "…", ""},
		"deep details": {400, `{"error":{"code":"DeploymentFailed","message":"x","details":[` + nested + `]}}`, "a: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, map[string]reply{"GET " + clusterPath: {status: row.status, body: row.body}}, func(
				t *testing.T, client *azure.Client,
			) {
				_, err := client.Cluster(context.Background(), "fleet", "aks-1")
				switch {
				case err == nil:
					t.Fatal("no error")
				case !strings.Contains(err.Error(), row.want) || row.never != "" && strings.Contains(err.Error(), row.never):
					t.Errorf("got %q, want %q", err, row.want)
				case strings.ContainsAny(err.Error(), "\n\x1b\x07\u202e") || len([]rune(err.Error())) > 2500:
					t.Errorf("not one bounded line: %d runes, %q", len([]rune(err.Error())), err)
				}
			})
		})
	}
}

// TestAnotherChangeInTheWayIsAConflict, whatever status ARM sends the code with.
func TestAnotherChangeInTheWayIsAConflict(t *testing.T) {
	for _, code := range []string{
		"AKSOperationPreempted", "AKSOperationPreemptedByDelete", "OperationPreempted", "EtagMismatch",
		"OriginalEtagNotExpect", "ResourceOperationFailure", "OperationNotAllowed",
	} {
		scripted(t, map[string]reply{"GET " + clusterPath: {status: 400, body: refusedWith(code)}}, func(
			t *testing.T, client *azure.Client,
		) {
			if _, err := client.Cluster(context.Background(), "fleet", "aks-1"); apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("%s is class %s", code, apierr.ClassOf(err))
			}
		})
	}
}

// TestClassIsNotReadFromTheText: the same words in a message change nothing.
func TestClassIsNotReadFromTheText(t *testing.T) {
	for body, want := range map[string]apierr.Class{
		`{"error":{"code":"BadRequest","message":"ResourceNotFound AuthorizationFailed EtagMismatch"}}`: apierr.Terminal,
		`{"error":{"code":"EtagMismatch","message":"fine"}}`:                                            apierr.Conflict,
	} {
		scripted(t, map[string]reply{"GET " + clusterPath: {status: 400, body: body}}, func(
			t *testing.T, client *azure.Client,
		) {
			if _, err := client.Cluster(context.Background(), "fleet", "aks-1"); apierr.ClassOf(err) != want {
				t.Errorf("%s is class %s", body, apierr.ClassOf(err))
			}
		})
	}
}

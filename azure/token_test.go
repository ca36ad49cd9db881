package azure_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"salve/azure"
	"salve/internal/apierr"
)

// goodToken is the token of a deletion as the SDK writes it.
func goodToken() azure.Token {
	return azure.Token{
		Kind: "delete-pool", Resource: poolPath,
		Resume: `{"type":"AgentPoolsClientDeleteResponse","token":{"asyncURL":"https://arm` + operations + `?t=1","locURL":"https://arm` + operations +
			`","origURL":"https://arm` + poolPath + `?api-version=2025-02-01","method":"DELETE","finalState":"","state":"InProgress"}}`,
	}
}

// TestTokenIsOfTheOperation: a token comes from a record, which somebody
// else may have written.
func TestTokenIsOfTheOperation(t *testing.T) {
	edit := func(old, with string) func(*azure.Token) {
		return func(token *azure.Token) { token.Resume = strings.ReplaceAll(token.Resume, old, with) }
	}
	const elsewhere = "/subscriptions/00000000-0000-4000-8000-00000000000b/"
	for name, row := range map[string]struct {
		edit     func(*azure.Token)
		resource string
		want     string // empty: resumed
	}{
		"as written":        {edit: func(*azure.Token) {}},
		"in another case":   {edit: func(*azure.Token) {}, resource: strings.ToUpper(poolPath)},
		"polling elsewhere": {edit: edit(`"asyncURL":"https://arm/`, `"asyncURL":"https://evil/`), want: "operation URL https://evil/subscriptions"},
		"ending elsewhere":  {edit: edit(`"locURL":"https://arm/`, `"locURL":"https://evil/`), want: "operation URL https://evil/"},
		"started elsewhere": {edit: edit(`"origURL":"https://arm/`, `"origURL":"https://evil/`), want: "operation URL https://evil/"},
		"without TLS":       {edit: edit(`https://arm/`, `http://arm/`), want: "is not at the ARM endpoint"},
		"another subscription": {
			edit: edit(operations, strings.Replace(operations, "/subscriptions/"+subscription+"/", elsewhere, 1)),
			want: "is not in subscription",
		},
		"no URL":                 {edit: edit(`https://arm/`, `://`), want: "is none"},
		"another pool's":         {edit: edit("agentPools/system", "agentPools/other"), want: "not of"},
		"another resource named": {edit: func(token *azure.Token) { token.Resource = clusterPath }, want: "not of"},
		"another resource":       {edit: func(*azure.Token) {}, resource: clusterPath + "/agentPools/other", want: "not of"},
		"of another subscription": {edit: func(token *azure.Token) {
			token.Resource = strings.Replace(poolPath, "/subscriptions/"+subscription+"/", elsewhere, 1)
		}, resource: strings.Replace(poolPath, "/subscriptions/"+subscription+"/", elsewhere, 1),
			want: "not in subscription"},
		"another method":      {edit: edit(`"DELETE"`, `"PUT"`), want: "not of"},
		"another kind":        {edit: func(token *azure.Token) { token.Kind = "put-pool" }, want: "not of"},
		"unknown kind":        {edit: func(token *azure.Token) { token.Kind = "what-if" }, want: "unknown kind"},
		"over":                {edit: edit(`"InProgress"`, `"succeeded"`), want: "that is over"},
		"failed":              {edit: edit(`"InProgress"`, `"Failed"`), want: "that is over"},
		"no polling URL":      {edit: edit("asyncURL", "finalState"), want: "no polling URL"},
		"two polling URLs":    {edit: edit(`"asyncURL":`, `"pollURL":"https://arm`+operations+`","asyncURL":`), want: "or two"},
		"a field of no SDK's": {edit: edit(`"method"`, `"fakeURL":"https://evil/","method"`), want: "not one of the SDK's"},
		"not JSON":            {edit: edit(`{"type"`, `type`), want: "not one of the SDK's"},
		"empty":               {edit: func(token *azure.Token) { token.Resume = "" }, want: "not one of the SDK's"},
		"too large": {edit: func(token *azure.Token) { token.Resume += strings.Repeat(" ", 20<<10) },
			want: "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, "https://arm", roundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, errors.New("never")
			}), staticToken{})
			token := goodToken()
			row.edit(&token)
			resource := row.resource
			if resource == "" {
				resource = poolPath
			}
			operation, err := client.Resume(token, resource)
			switch {
			case row.want == "" && (err != nil || operation == nil):
				t.Errorf("not resumed: %v", err)
			case row.want != "" && (!errors.Is(err, azure.ErrOperationLost) || apierr.ClassOf(err) != apierr.Transient ||
				!strings.Contains(err.Error(), row.want)):
				t.Errorf("got %v of class %s, want %q", err, apierr.ClassOf(err), row.want)
			}
		})
	}
}

// TestForgottenOperationSaysNothingOfItsResource: neither that it ended nor that the
// resource is gone.
func TestForgottenOperationSaysNothingOfItsResource(t *testing.T) {
	for name, row := range map[string]struct {
		answer    reply
		forgotten bool
		class     apierr.Class
	}{
		"not found": {reply{status: 404, body: refusedWith("NotFound")}, true, apierr.Transient},
		"of deployments": {reply{status: 404, body: refusedWith("DeploymentOperationNotFound")},
			true, apierr.Transient},
		"of a deployment":  {reply{status: 404, body: refusedWith("DeploymentNotFound")}, true, apierr.Transient},
		"of another cloud": {reply{status: 404, body: refusedWith("SubscriptionNotFound")}, false, apierr.Denied},
		"of a proxy":       {reply{status: 404, body: "<html>"}, false, apierr.Denied},
		"that leads elsewhere": {
			reply{status: 307, header: map[string]string{"Location": "https://evil/"}}, true, apierr.Transient,
		},
		"preempted by another's": {reply{status: 200, body: `{"status":"Failed","error":{"code":"OperationPreempted","message":"x"}}`}, false, apierr.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, map[string]reply{"GET " + operations: row.answer}, func(t *testing.T, client *azure.Client) {
				operation, err := client.Resume(goodToken(), poolPath)
				if err != nil {
					t.Fatal(err)
				}
				err = operation.Wait(context.Background())
				if errors.Is(err, azure.ErrOperationLost) != row.forgotten || apierr.ClassOf(err) != row.class {
					t.Errorf("got %v of class %s", err, apierr.ClassOf(err))
				}
			})
		})
	}
}

// TestOperationThatLeadsElsewhereHasNoToken: it was accepted, and what becomes of it shows in its resource alone.
func TestOperationThatLeadsElsewhereHasNoToken(t *testing.T) {
	const async, location = "Azure-AsyncOperation", "Location"
	const mine, evil = "https://arm" + operations, "https://evil" + operations
	const another = "https://arm/subscriptions/00000000-0000-4000-8000-00000000000b/x"
	for name, row := range map[string]struct {
		header map[string]string
		want   bool
	}{
		"ARM's":                     {map[string]string{async: mine, location: mine}, true},
		"ARM's Location alone":      {map[string]string{location: mine}, true},
		"polled elsewhere":          {map[string]string{async: evil, location: mine}, false},
		"read at the end elsewhere": {map[string]string{async: mine, location: evil}, false},
		"Location elsewhere":        {map[string]string{location: evil}, false},
		"without TLS":               {map[string]string{location: "http://arm" + operations}, false},
		"another subscription's":    {map[string]string{location: another}, false},
	} {
		t.Run(name, func(t *testing.T) {
			script := map[string]reply{"DELETE " + poolPath: {status: 202, header: row.header}}
			scripted(t, script, func(t *testing.T, client *azure.Client) {
				operation, err := client.DeletePool(permitted(), pool, "etag", azure.DeletePoolOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if token, ok := operation.Token(); ok != row.want {
					t.Errorf("token %+v, %v", token, ok)
				}
			})
		})
	}
}

// TestUnreadableStatusOfAnOperationIsAskedForAgain: a proxy's page is not ARM's word of how an operation ended.
func TestUnreadableStatusOfAnOperationIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls := 0
		client := clientOf(t, "https://arm", roundTrip(func(request *http.Request) (*http.Response, error) {
			polls++
			header, body := http.Header{"Content-Type": {"text/html"}}, "<html>"
			if polls > 2 {
				header, body = http.Header{"Content-Type": {"application/json"}}, `{"status":"Succeeded"}`
			}
			return &http.Response{
				StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: request,
			}, nil
		}), staticToken{})
		operation, err := client.Resume(goodToken(), poolPath)
		if err != nil {
			t.Fatal(err)
		}
		if err := operation.Wait(t.Context()); err != nil || polls < 3 {
			t.Errorf("%d polls: %v", polls, err)
		}
	})
}

package github_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/clock"
	"salve/internal/permit"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// token is that of an administrator of the organization kube.
const token = "ghp_0123456789abcdefghij0123456789abcdefgh"

var (
	widgets = github.Repo{Owner: "kube", Name: "widgets"}
	day     = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

// bench is a simulated GitHub with one client; its time is virtual.
type bench struct {
	sim    *githubsim.Server
	client *github.Client
}

// world has one organization with one repository.
func world() *githubsim.World {
	w := &githubsim.World{}
	w.Repo("kube/widgets").DefaultBranch = "main"
	w.Repo("kube/widgets").Branch("release-1")
	w.Owners["kube"].Members = map[string]string{"root": "admin", "merge-robot": "member"}
	w.Repo("kube/widgets").Collaborators = map[string]string{"merge-robot": "write"}
	w.Token(token, "root")
	w.Token("robot-token", "merge-robot")
	return w
}

func newBench(t *testing.T, w *githubsim.World, set ...func(*github.Options)) bench {
	t.Helper()
	sim := githubsim.New(githubsim.Options{World: w})
	return bench{sim, newClient(t, sim, set...)}
}

func newClient(t *testing.T, sim *githubsim.Server, set ...func(*github.Options)) *github.Client {
	t.Helper()
	options := github.Options{
		Token: constant(token), Transport: sim.Transport(), Clock: clock.Real{}, ChangeInterval: time.Millisecond,
	}
	for _, one := range set {
		one(&options)
	}
	client, err := github.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func constant(token string) github.TokenSource {
	return github.TokenFunc(func(context.Context) (string, error) { return token, nil })
}

func as(token string) func(*github.Options) {
	return func(o *github.Options) { o.Token = constant(token) }
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// permitted is a context that lets changes pass.
func permitted(t *testing.T) context.Context {
	t.Helper()
	return permit.NewContext(t.Context(), permit.Mint(permit.Terms{
		Run: "r1", Step: "set-protection", Attempt: 1, Epoch: 1, Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	}))
}

func (b bench) branch(t *testing.T, name string) github.Branch {
	t.Helper()
	branch, err := b.client.Branch(t.Context(), widgets, name)
	if err != nil {
		t.Fatal(err)
	}
	return branch
}

// transportFunc is a RoundTripper.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering lets each request have the same answer.
func answering(body string) func(*github.Options) {
	return func(o *github.Options) {
		o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, err := w.WriteString(body)
			response := w.Result()
			response.Request = r
			return response, err
		})
	}
}

package github_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// TestOddBranchNamesAreOneSegment: each call about a branch is about that one, whatever it is called.
func TestOddBranchNamesAreOneSegment(t *testing.T) {
	for _, name := range []string{
		"feature/ä#1", "feature/x/protection", "50%", "50%2Fx", "a+b", "ä b?c=d&e", "%2e%2e", "x;y:z@v1",
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := world()
				repo := w.Repo("kube/widgets")
				repo.Branch(name).Protection = githubsim.Require("unit")
				repo.Rulesets = []githubsim.Ruleset{{ID: 1, Branches: []string{name}}}
				repo.Pull(3).Base = name
				b := newBench(t, w)
				branch := b.branch(t, name)
				if branch.Name != name || branch.SHA != githubsim.SHA("branch "+name) || !branch.Protected {
					t.Fatalf("read %+v", branch)
				}
				got, err := b.client.Protection(t.Context(), branch)
				if err != nil || !got.Protected {
					t.Fatalf("%+v, %v", got, err)
				}
				if rules, err := b.client.Rules(t.Context(), branch); err != nil || len(rules) != 1 {
					t.Errorf("rules %+v, %v", rules, err)
				}
				if pulls, err := b.client.PullRequests(t.Context(), widgets, name); err != nil || len(pulls) != 1 {
					t.Errorf("pull requests %+v, %v", pulls, err)
				}
				if commits, err := b.client.HeadCommits(t.Context(), branch, 5); err != nil || commits[0].SHA != branch.SHA {
					t.Errorf("commits %+v, %v", commits, err)
				}
				if _, err := b.client.SetProtection(permitted(t), branch, github.Settings{}); err != nil {
					t.Error(err)
				}
				if err := b.client.RequireSignatures(permitted(t), branch, true); err != nil {
					t.Error(err)
				}
				if err := b.client.RemoveProtection(permitted(t), branch); err != nil {
					t.Error(err)
				}
				b.sim.Update(func(w *githubsim.World) {
					if w.Repo("kube/widgets").Branch(name).Protection != nil {
						t.Error("another branch was changed")
					}
				})
			})
		})
	}
}

func TestNamesThatMeanAnotherPathAreRefused(t *testing.T) {
	b := newBench(t, world())
	for _, name := range []string{"", ".", "..", "x/../y", "a\nb", strings.Repeat("x", 2000)} {
		if _, err := b.client.Branch(t.Context(), widgets, name); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("branch %q: %v", name, err)
		}
	}
	for _, text := range []string{"", "kube", "kube/", "/x", "kube/..", "../x", "kube/a/b", "kube/a b", "kube/a%2fb"} {
		if repo, err := github.ParseRepo(text); err == nil {
			t.Errorf("%q is read as %v", text, repo)
		}
	}
	_, err := b.client.Repository(t.Context(), github.Repo{Owner: "..", Name: "x"})
	if apierr.ClassOf(err) != apierr.Terminal {
		t.Error(err)
	}
	if calls := b.sim.Calls(); len(calls) != 0 {
		t.Errorf("asked: %+v", calls)
	}
}

// TestAnotherObjectIsUnknown: an answer about something else is never taken.
func TestAnotherObjectIsUnknown(t *testing.T) {
	const sha, other = "6dcb09b5b57875f334f61aebed695e2e4193db5e", "762941318ee16e59dabbacb1b4049eec22f0d303"
	branch := github.Branch{Repo: widgets, Name: "main", SHA: sha}
	read := map[string]func(*github.Client, *testing.T) error{
		"repository": func(c *github.Client, t *testing.T) error {
			_, err := c.Repository(t.Context(), widgets)
			return err
		},
		"branch": func(c *github.Client, t *testing.T) error {
			_, err := c.Branch(t.Context(), widgets, "main")
			return err
		},
		"protection": func(c *github.Client, t *testing.T) error {
			_, err := c.Protection(t.Context(), branch)
			return err
		},
		"reports": func(c *github.Client, t *testing.T) error {
			_, err := c.Reports(t.Context(), widgets, sha)
			return err
		},
		"pull": func(c *github.Client, t *testing.T) error {
			_, err := c.PullRequest(t.Context(), widgets, 1)
			return err
		},
		"commits": func(c *github.Client, t *testing.T) error {
			_, err := c.HeadCommits(t.Context(), branch, 3)
			return err
		},
		"comments": func(c *github.Client, t *testing.T) error {
			_, err := c.Comments(t.Context(), widgets, 1)
			return err
		},
	}
	for name, row := range map[string]struct{ read, answer string }{
		"another repository":        {"repository", `{"full_name": "kube/gadgets"}`},
		"no repository":             {"repository", `{}`},
		"another branch":            {"branch", `{"name": "next", "commit": {"sha": "` + sha + `"}}`},
		"a branch without a head":   {"branch", `{"name": "main"}`},
		"a branch with half a head": {"branch", `{"name": "main", "commit": {"sha": "6dcb09b"}}`},
		"a list and no repository":  {"repository", `[]`},
		"other commits":             {"commits", `[{"sha": "` + other + `"}, {"sha": "` + sha + `"}]`},
		"no commit":                 {"commits", `[]`},
		"more commits than were asked for": {"commits", `[{"sha": "` + sha + `"}, {"sha": "` + sha + `"}, {"sha": "` + sha +
			`"}, {"sha": "` + sha + `"}]`},
		"another commit's check runs": {"reports", `{"sha": "` + sha + `", "repository": {"full_name": "kube/widgets"},
			"check_runs": [{"name": "x", "status": "queued", "head_sha": "` + other + `"}]}`},
		"fewer statuses than there are": {"reports", `{"sha": "` + sha + `", "repository": {"full_name": "kube/widgets"},
			"total_count": 1}`},
		"a status of no known state": {"reports", `{"sha": "` + sha + `", "repository": {"full_name": "kube/widgets"},
			"statuses": [{"context": "x", "state": "green"}]}`},
		"another branch's protection":   {"protection", `{"url": "https://api.github.com/repos/kube/widgets/branches/next/protection"}`},
		"another repository's":          {"protection", `{"url": "https://api.github.com/repos/kube/gadgets/branches/main/protection"}`},
		"a protection without a name":   {"protection", `{"enforce_admins": {"enabled": true}}`},
		"another commit's statuses":     {"reports", `{"sha": "` + other + `", "repository": {"full_name": "kube/widgets"}}`},
		"another repository's statuses": {"reports", `{"sha": "` + sha + `", "repository": {"full_name": "kube/gadgets"}}`},
		"another pull request": {"pull", `{"number": 2, "head": {"sha": "` + sha +
			`"}, "base": {"ref": "main", "repo": {"full_name": "kube/widgets"}}}`},
		"another repository's pull": {"pull", `{"number": 1, "head": {"sha": "` + sha +
			`"}, "base": {"ref": "main", "repo": {"full_name": "kube/gadgets"}}}`},
		"another issue's comment": {"comments", `[{"id": 1, "issue_url": "https://api.github.com/repos/kube/widgets/issues/11"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				client := newClient(t, githubsim.New(githubsim.Options{}), answering(row.answer))
				if err := read[row.read](client, t); err == nil {
					t.Error("taken for what was asked for")
				} else if class := apierr.ClassOf(err); class != apierr.Transient && class != apierr.Terminal {
					t.Errorf("class %s: %v", class, err)
				}
			})
		})
	}
}

// TestAnswerOfAnotherShapeIsNotAskedForAgain: it would be the same.
func TestAnswerOfAnotherShapeIsNotAskedForAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		client := newClient(t, githubsim.New(githubsim.Options{}), answering(`[]`))
		began := time.Now()
		if _, err := client.Repository(t.Context(), widgets); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("class %s: %v", apierr.ClassOf(err), err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("took %s", took)
		}
	})
}

// TestTokenStaysWithItsHost over a real connection: no redirect is followed, not even within the host.
func TestTokenStaysWithItsHost(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var asked int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, thief.URL+r.URL.Path, status)
		}))
		client, err := github.New(github.Options{BaseURL: server.URL, Token: constant(token), ChangeInterval: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Repository(t.Context(), widgets)
		var moved *github.MovedError
		if !errors.As(err, &moved) || apierr.ClassOf(err) != apierr.Terminal || asked != 1 {
			t.Errorf("%d: asked %d times: %v", status, asked, err)
		}
		branch := github.Branch{Repo: widgets, Name: "main", SHA: githubsim.SHA("x")}
		if err := client.RemoveProtection(permitted(t), branch); !errors.As(err, &moved) {
			t.Errorf("%d: change: %v", status, err)
		}
		server.Close()
	}
	if len(stolen) != 0 {
		t.Errorf("the other host was asked with %q", stolen)
	}
}

func TestRenamedRepositorySaysSo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/gadgets").Renamed = []string{"old"}
		b := newBench(t, w)
		_, err := b.client.Repository(t.Context(), github.Repo{Owner: "kube", Name: "old"})
		var moved *github.MovedError
		if !errors.As(err, &moved) || moved.Repo.String() != "kube/gadgets" ||
			!strings.Contains(err.Error(), "now kube/gadgets") {
			t.Error(err)
		}
	})
}

// TestTokenIsNeverShown, whatever the error holds.
func TestTokenIsNeverShown(t *testing.T) {
	for name, hold := range map[string]struct {
		token     string
		transport transportFunc
	}{
		"an error of the connection": {"tok3n-of-some-odd-shape", func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("proxy refused " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}},
		"GitHub's own message": {"tok3n-of-some-odd-shape", func(r *http.Request) (*http.Response, error) {
			sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			body := fmt.Sprintf(`{"message": "no rights for %s"}`, sent)
			return &http.Response{
				StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}, nil
		}},
		"a token that is none": {"tok3n\nof some shape", nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				client := newClient(t, githubsim.New(githubsim.Options{}), as(hold.token), func(o *github.Options) {
					o.Transport = hold.transport
				})
				_, err := client.Repository(t.Context(), widgets)
				if err == nil {
					t.Fatal("no error")
				}
				if strings.Contains(err.Error(), "tok3n") {
					t.Errorf("shown: %v", err)
				}
				if hold.transport == nil && apierr.ClassOf(err) != apierr.Denied {
					t.Errorf("class %s: %v", apierr.ClassOf(err), err)
				}
			})
		})
	}
}

func TestTokenSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	source := github.TokenFromFile(path)
	for _, written := range []string{"first\n", "second\n"} {
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := source.Token(t.Context()); err != nil || got != written {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := os.WriteFile(path, make([]byte, 20<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Token(t.Context()); err == nil {
		t.Error("a large file was read")
	}
	t.Setenv("SALVE_TEST_TOKEN", "third")
	if got, err := github.TokenFromEnvironment("SALVE_TEST_TOKEN").Token(t.Context()); err != nil || got != "third" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := github.TokenFromEnvironment("SALVE_TEST_NO_TOKEN").Token(t.Context()); err == nil {
		t.Error("a variable that is not set gave a token")
	}
}

func TestBaseURLs(t *testing.T) {
	for text, valid := range map[string]bool{
		"": true, "https://ghe.example.com/api/v3": true, "https://ghe.example.com/api/v3/": true,
		"http://127.0.0.1:1234": true, "http://localhost:1234/": true, "http://ghe.example.com/api/v3": false,
		"https://user:secret@ghe.example.com": false, "ftp://x": false, "https://": false, "https://x/?a=b": false,
	} {
		_, err := github.New(github.Options{BaseURL: text, Token: constant(token)})
		if (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("shown: %v", err)
		}
	}
	if _, err := github.New(github.Options{}); err == nil {
		t.Error("a client without a token source was made")
	}
}

// TestEnterpriseServer over a real connection, below a path.
func TestEnterpriseServer(t *testing.T) {
	w := world()
	w.Repo("kube/widgets").Branch("feature/x").Protection = githubsim.Require("unit")
	address, stop, err := githubsim.New(githubsim.Options{World: w}).Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client, err := github.New(github.Options{BaseURL: address + "/api/v3", Token: constant(token), Clock: clock.Real{}})
	if err != nil {
		t.Fatal(err)
	}
	branch, err := client.Branch(t.Context(), widgets, "feature/x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Protection(t.Context(), branch); err != nil || !got.Protected {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAnswersAreBounded: an endless one is an error.
func TestAnswersAreBounded(t *testing.T) {
	virtual(t, func(t *testing.T) {
		client := newClient(t, githubsim.New(githubsim.Options{}), func(o *github.Options) {
			o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
					Body: endless{},
				}, nil
			})
		})
		_, err := client.Repository(t.Context(), widgets)
		if apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("class %s: %v", apierr.ClassOf(err), err)
		}
	})
}

type endless struct{}

func (endless) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = ' '
	}
	return len(into), nil
}
func (endless) Close() error { return nil }

// TestChangesKeepTheirDistance, as GitHub asks.
func TestChangesKeepTheirDistance(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world(), func(o *github.Options) { o.ChangeInterval = 0 })
		branch, began := b.branch(t, "main"), time.Now()
		for range 4 {
			if _, err := b.client.SetProtection(permitted(t), branch, github.Settings{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("four changes took %s", took)
		}
	})
}

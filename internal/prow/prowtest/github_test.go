package prowtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"salve/internal/prow/prowtest"
)

// github answers every request with nothing, and remembers it.
type github struct {
	prowtest.GitHub
	mu    sync.Mutex
	asked []string
}

func newGitHub(t *testing.T, status int) *github {
	t.Helper()
	g := &github{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.asked = append(g.asked, r.Method+" "+r.URL.Path)
		code, answer := status, "[]"
		if r.Method == http.MethodPost {
			code, answer = http.StatusCreated, "{}"
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	g.Endpoint, g.TokenFile = server.URL, filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(g.TokenFile, []byte("a-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *github) wasAsked(request string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.asked, request)
}

func TestCrierReportsWhatIsDone(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.Crier)
	g := newGitHub(t, http.StatusOK)
	if _, err := s.Crier(t.Context(), s.Good(), g.GitHub); err != nil {
		t.Fatal(err)
	}
	done, silent := prowtest.APresubmit("done"), prowtest.APresubmit("silent")
	done.State, silent.State = prowtest.Success, prowtest.Success
	silent.Silent, silent.SHA = true, strings.Repeat("0", 40)
	s.Make(silent, done)
	s.Eventually("the job is reported", func(context.Context) error {
		if !g.wasAsked("POST /repos/example/infra/statuses/" + done.SHA) {
			return errors.New("no status was posted")
		}
		return nil
	})
	if g.wasAsked("POST /repos/example/infra/statuses/" + silent.SHA) {
		t.Error("a job that reports nothing was reported")
	}
}

func TestStatusReconcilerStarts(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.StatusReconciler)
	reconciler, err := s.StatusReconciler(t.Context(), s.Good(), newGitHub(t, http.StatusOK).GitHub)
	if err != nil {
		t.Fatal(err)
	}
	s.Roll(reconciler, s.Good())
}

// TestBranchProtectorRunsToItsEnd, and tells whether it failed.
func TestBranchProtectorRunsToItsEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.BranchProtector)
	g := newGitHub(t, http.StatusNotFound)
	if said, err := s.BranchProtector(t.Context(), s.Good(), g.GitHub); err != nil || len(g.asked) > 0 {
		t.Errorf("with nothing to protect: %v: %s", err, said)
	}
	files, err := prowtest.Config{ProwJobs: s.ProwJobs, Pods: s.Pods, Jobs: prowtest.ManyJobs(4), More: map[string]any{
		"branch-protection": map[string]any{"orgs": map[string]any{"example": map[string]any{"repos": map[string]any{
			"repo-0000": map[string]any{"protect": true},
		}}}},
	}}.Write(t.TempDir())
	s.Must(err)
	said, err := s.BranchProtector(t.Context(), files, g.GitHub)
	if err == nil || !strings.Contains(said, "404") || !g.wasAsked("GET /repos/example/repo-0000") {
		t.Errorf("of a repository that is not there: %v, asked %q: %s", err, g.asked, said)
	}
}

// TestAComponentThatCanNotStartSaysWhy with the end of its log.
func TestAComponentThatCanNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.Plank)
	files := s.Good()
	s.Must(os.WriteFile(files.Config, []byte("plank: [not, a, section]\n"), 0o600))
	_, err := s.Plank(t.Context(), files)
	if err == nil || !strings.Contains(err.Error(), "Error starting config agent") {
		t.Errorf("%v", err)
	}
}

//go:build linux

package fetch_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

func TestAptBringsExactlyTheVersion(t *testing.T) {
	r := aptRepository(t)
	for _, row := range []struct{ want, published string }{
		{base + ".1", base + ".1-ubuntu24.04u1"},
		{base + ".1-ubuntu24.04u1", base + ".1-ubuntu24.04u1"},
		{base + ".2", base + ".2"},
		{base + ".10", base + ".10-ubuntu24.04u1"},
		{base + ".19", base + ".19-ubuntu24.04u1"},
	} {
		t.Run(row.want, func(t *testing.T) {
			t.Parallel()
			file, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, row.want), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			holds(t, file, contentOf(row.published))
			if !strings.Contains(file.Source, row.published) {
				t.Errorf("source %q", file.Source)
			}
		})
	}
}

func TestAptNeverTakesWhatOnlyBeginsLikeIt(t *testing.T) {
	r := aptRepository(t)
	for _, want := range []string{base + ".3", base + ".100", base + ".1-ubuntu24.04", base + ".1-ubuntu24.04u1.1",
		base + ".2-ubuntu24.04u1", "202604.02.1"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			_, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, want), folder)
			if fetch.OutcomeOf(err) != fetch.VersionNotFound {
				t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
			}
			empty(t, folder)
		})
	}
}

func TestAptBringsTheScripts(t *testing.T) {
	r := aptRepository(t)
	file, err := debian(t, r, nil).Scripts(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holds(t, file, "write_files: []\n")
}

// The lists of the node are not read, written or locked: whoever holds their lock
// is not in the way.
func TestAptLeavesTheNodesListsAlone(t *testing.T) {
	r := aptRepository(t)
	lists := "/var/lib/apt/lists"
	before, err := os.ReadDir(lists)
	if err != nil {
		t.Skip("no lists of apt here")
	}
	if _, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadDir(lists)
	if err != nil || len(after) != len(before) {
		t.Errorf("%d lists before, %d after, %v", len(before), len(after), err)
	}
}

// lock holds apt's lock on a folder of lists as another apt would: apt locks with
// fcntl, which only another process can hold against it.
func lock(t *testing.T, lists string) (release func()) {
	t.Helper()
	needs(t, "python3")
	if err := os.MkdirAll(lists, 0o755); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("python3", "-c", `
import fcntl, sys
held = open(sys.argv[1], "w")
fcntl.lockf(held, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()`, filepath.Join(lists, "lock"))
	input, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	release = func() {
		_ = input.Close()
		_ = holder.Wait()
	}
	t.Cleanup(release)
	return release
}

func TestAHeldLockIsWaitedFor(t *testing.T) {
	r := aptRepository(t)
	folder := t.TempDir()
	release := lock(t, filepath.Join(folder, "packages/lists"))
	time.AfterFunc(time.Second, release)
	file, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, file, contentOf(base+".2"))
}

func TestALockHeldForTheWholeBudgetIsBusy(t *testing.T) {
	r := aptRepository(t)
	folder := t.TempDir()
	lock(t, filepath.Join(folder, "packages/lists"))
	node := debian(t, r, func(s *fetch.Settings) { s.Budget = 5 * time.Second })
	_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder)
	if fetch.OutcomeOf(err) != fetch.Busy {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
}

func TestAServerThatIsCutOffInTheMiddle(t *testing.T) {
	for name, cut := range map[string]string{"in the list": "/Packages", "in the package": ".deb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := aptRepository(t)
			var cuts atomic.Int32
			r.handle(func(w http.ResponseWriter, request *http.Request) bool {
				if !strings.HasSuffix(request.URL.Path, cut) || cuts.Add(1) > 1 {
					return false
				}
				w.Header().Set("Content-Length", "100000")
				_, _ = w.Write([]byte(strings.Repeat("x", 500)))
				panic(http.ErrAbortHandler)
			})
			file, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, base+".10"), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			holds(t, file, contentOf(base+".10-ubuntu24.04u1"))
		})
	}
}

func TestAServerThatNeverAnswersCostsTheBudget(t *testing.T) {
	r := aptRepository(t)
	r.handle(func(_ http.ResponseWriter, request *http.Request) bool {
		<-request.Context().Done()
		return true
	})
	folder := t.TempDir()
	began := time.Now()
	node := debian(t, r, func(s *fetch.Settings) { s.Budget = 2 * time.Second })
	_, err := node.Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), folder)
	if fetch.OutcomeOf(err) != fetch.Timeout {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	empty(t, folder)
}

func TestAServerThatRefuses(t *testing.T) {
	r := aptRepository(t)
	r.handle(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "no", http.StatusForbidden)
		return true
	})
	_, err := debian(t, r, nil).Program(t.Context(), hotfix.Pointer{}, version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.Denied {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
}

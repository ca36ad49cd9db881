package prowtest_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"salve/internal/prow/prowtest"
)

// TestProwAcceptsTheConfigurations that tests use: checkconfig finds nothing to warn of.
func TestProwAcceptsTheConfigurations(t *testing.T) {
	t.Parallel()
	prowtest.Need(t, prowtest.CheckConfig)
	for name, config := range map[string]prowtest.Config{
		"without jobs": {},
		"many jobs":    {Jobs: prowtest.ManyJobs(200)},
		"each type": {Jobs: []prowtest.ConfiguredJob{
			{Name: "pull-infra-test", Repo: "example/infra", Fields: map[string]any{"always_run": true}},
			{Name: "post-infra-deploy", Repo: "example/infra", Type: prowtest.Postsubmit},
			{Name: "ci-infra-nightly", Type: prowtest.Periodic},
		}},
		"with more sections": {
			Jobs: prowtest.ManyJobs(20),
			More: map[string]any{
				"plank": map[string]any{"pod_pending_timeout": "1h"},
				"branch-protection": map[string]any{"orgs": map[string]any{"example": map[string]any{
					"protect": true,
				}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config.ProwJobs, config.Pods = "prow", "test-pods"
			files, err := config.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if said, err := prowtest.Check(t.Context(), files); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

// TestProwRefusesWhatIsWrong: the checks of this package are Prow's own.
func TestProwRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	prowtest.Need(t, prowtest.CheckConfig)
	files, err := prowtest.Config{ProwJobs: "prow", Pods: "test-pods", Jobs: []prowtest.ConfiguredJob{
		{Name: "pull-infra-test", Repo: "example/infra", Fields: map[string]any{"namespace": "default"}},
	}}.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said, err := prowtest.Check(t.Context(), files)
	if err == nil || !strings.Contains(said, "namespace") {
		t.Errorf("a job in another namespace: %v: %s", err, said)
	}
}

// recorder is a test that only remembers how it ended.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}
func (r *recorder) Skip(args ...any) {
	r.skipped = args[0].(error).Error()
	runtime.Goexit()
}
func (r *recorder) Fatal(args ...any) {
	r.failed = args[0].(error).Error()
	runtime.Goexit()
}

// TestWithoutAProgram a test is skipped, and failed where programs are required. Both say how to build it.
func TestWithoutAProgram(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(prowtest.Folder, folder)
	if err := os.WriteFile(folder+"/"+prowtest.Sinker, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		required, program string
		skips, fails      bool
	}{
		"not required":    {"", prowtest.Plank, true, false},
		"required":        {"1", prowtest.Plank, false, true},
		"it is there":     {"1", prowtest.Sinker, false, false},
		"required is off": {"0", prowtest.Plank, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(prowtest.Required, row.required)
			seen, done := &recorder{}, make(chan struct{})
			go func() {
				defer close(done)
				prowtest.Need(seen, row.program)
			}()
			<-done
			if (seen.skipped != "") != row.skips || (seen.failed != "") != row.fails {
				t.Errorf("skipped %q, failed %q", seen.skipped, seen.failed)
			}
			if said := seen.skipped + seen.failed; said != "" && !strings.Contains(said, "make prow") {
				t.Errorf("it says %q", said)
			}
		})
	}
}

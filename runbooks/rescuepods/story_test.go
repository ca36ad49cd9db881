package rescuepods_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStories shows what a person sees: the plan, what happened, the checks.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		name   string
		atHome int // pods, once the controller has done its part
		given  func(*stage)
		want   runbook.Outcome
		after  func(*stage)
	}{
		{"leak", 6, func(s *stage) { // some jobs get new pods, one is complete, one runs
			s.controller()
			s.stranded("job-a", "job-b")
			s.job("job-done", "2019-02-05T09:34:00Z")
			s.pod(s.astray, "job-done", nil)
			s.job("job-runs", "2019-02-05T09:34:00Z")
			s.pod(s.astray, "job-runs", nil)
			s.starts(s.astray, "job-runs")
		}, runbook.Remediated, func(s *stage) {
			s.remain(s.astray, "job-runs")
			s.remain(s.home, "job-a", "job-b")
		}},
		{"start-again", 4, func(s *stage) { // no controller is at work, a job is not there, a pod has none
			s.stranded("job-a")
			s.pod(s.astray, "job-gone", nil)
			s.pod(s.astray, "no-job", func(pod *corev1.Pod) { delete(pod.Labels, "prow.k8s.io/id") })
			s.inputs.ReplacedWithin.Duration = 2 * time.Second
		}, runbook.Remediated, func(s *stage) { s.remain(s.astray) }},
		{"held", 7, func(s *stage) { // a finalizer of somebody's
			s.hasty() // the checks are asked again and again
			s.controller()
			s.stranded("job-a", "job-b")
			s.job("job-held", "")
			s.pod(s.astray, "job-held", func(pod *corev1.Pod) { pod.Finalizers = []string{"prow.x-k8s.io/gcsk8sreporter"} })
			s.Cleanup(func() { s.unhold("job-held") })
		}, runbook.NeedsAttention, func(s *stage) {
			pod, err := s.client.CoreV1().Pods(s.astray).Get(s.Context(), "job-held", metav1.GetOptions{})
			if err != nil || pod.DeletionTimestamp == nil || len(pod.Finalizers) != 1 {
				s.Errorf("the held pod: %v", err)
			}
			s.unhold("job-held")
			s.ends(s.run(), runbook.Remediated, "")
		}},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			story.given(s)
			s.eventually("the controller has done its part", func() bool { return len(s.there(s.home)) == story.atHome })
			looked, err := s.engine().Plan(t.Context(), s.book(), engine.Options{})
			s.must(err)
			var told bytes.Buffer
			s.must(report.Plan(&told, 0, *looked.Plan))
			for _, finding := range looked.Findings {
				fmt.Fprintf(&told, "%s %s: %s\n", finding.Guard, finding.Answer, finding.Reason)
				for _, seen := range finding.Evidence {
					fmt.Fprintf(&told, "  seen in %s %s: %s\n", seen.Source, seen.Identity, seen.Value)
				}
			}
			s.events = nil
			result := s.run()
			s.ends(result, story.want, "")
			told.WriteString("\n" + s.transcript())
			s.golden(story.name, told.String())
			story.after(s)
			s.homeUntouched()
		})
	}
}

// homeUntouched: the pods that were at home before are there.
func (s *stage) homeUntouched() {
	s.Helper()
	for _, name := range atHome {
		if !slices.Contains(s.there(s.home), name) {
			s.Errorf("pod %s was touched where it belongs", name)
		}
	}
}

// transcript is what the last run told, without what passes by: of the checks, the
// last answers, because how often they are asked depends on the machine.
func (s *stage) transcript() string {
	var lines []string
	for _, event := range s.events {
		line := string(event.Kind) + " " + event.Step
		switch {
		case event.Kind == engine.StepMoved, event.Kind == engine.PlanMade, event.Kind == engine.Waiting:
			continue
		case event.Finding != nil:
			line += fmt.Sprintf(": %s %s: %s", event.Finding.Guard, event.Finding.Answer, event.Finding.Reason)
		case event.Result != nil:
			line += fmt.Sprintf(": %s %s", event.Result.Result, event.Result.Reason)
		case event.Verdict != nil:
			line += fmt.Sprintf(": %s: %s", event.Verdict.Outcome, event.Verdict.Reason)
		case event.Text != "":
			line += ": " + event.Text
		}
		if event.Finding != nil && event.Step == "checks" {
			lines = slices.DeleteFunc(lines, func(told string) bool {
				return strings.HasPrefix(told, fmt.Sprintf("%s checks: %s ", event.Kind, event.Finding.Guard))
			})
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n") + "\n"
}

var passing = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`is 1\dm\d+s old`), "is 10m0s old"},
	{regexp.MustCompile(`Digest [0-9a-f]{64}`), "Digest 0123456789abcdef"},
	{regexp.MustCompile(`UIDs [0-9a-f]{16}`), "UIDs 0123456789abcdef"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "00000000-0000-0000-0000-000000000000"},
	{regexp.MustCompile(`(the youngest, default|seen in pod default)/[-a-z]+`), "$1/the-youngest"},
	{regexp.MustCompile(`"created":"[^"]*"`), `"created":"2019-02-05T09:34:00Z"`},
}

// golden compares a text with what is kept of it, the names of namespaces and what
// passes aside.
func (s *stage) golden(name, text string) {
	s.Helper()
	text = strings.NewReplacer(s.home, "test-pods", s.astray, "default").Replace(text)
	for _, one := range passing {
		text = one.is.ReplaceAllString(text, one.as)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		s.must(os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	s.must(err)
	if diff := cmp.Diff(string(want), text); diff != "" {
		s.Errorf("%s (write it anew with -update):\n%s", path, diff)
	}
}

// TestTheJournalHoldsThePods: whole in the exports, and no more than which they are in the record.
func TestTheJournalHoldsThePods(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stranded("a")
	s.pod(s.astray, "b", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env,
			corev1.EnvVar{Name: "LINE", Value: "--password=hunter2 --verbose"})
	})
	s.inputs.ReplacedWithin.Duration = time.Second
	before := s.uids(s.astray)
	s.ends(s.run(), runbook.Remediated, "")
	records, err := journal.Find(t.Context(), s.journal, func(*journal.History) bool { return true },
		func(_ string, err error) { t.Error(err) })
	s.must(err)
	pods, found, err := s.search().RecordedPods(recalling{record: records[0]})
	s.must(err)
	if !found || len(pods) != 2 {
		t.Fatalf("recorded: %v", pods)
	}
	for _, pod := range pods {
		if pod.UID != before[pod.Name] || pod.Labels["stage"] != s.home {
			t.Errorf("recorded: %+v", pod)
		}
	}
	lines, err := s.journal.Read(t.Context(), records[0].Run)
	s.must(err)
	if all := bytes.Join(lines, nil); bytes.Contains(all, []byte("hunter2")) ||
		bytes.Contains(all, []byte("never-read")) || bytes.Contains(all, []byte("--verbose")) {
		t.Error("a secret is in the journal")
	}
	piece, err := records[0].ReadExport(t.Context(), "pods-0")
	s.must(err)
	text := unzipped(t, piece)
	if !strings.Contains(text, "--password=hunter2 --verbose") || !strings.Contains(text, `"kind":"Pod"`) || strings.Contains(text, "never-read") {
		t.Errorf("an export is %s", text)
	}
}

// TestAPodThatStartsIsLeftAlone: it starts after it was seen and before it is deleted.
func TestAPodThatStartsIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.controller()
	s.stranded("a", "b", "c")
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepBegan && event.Step == "delete-rest" {
			s.starts(s.astray, "b")
		}
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "b")
	if checks := s.findings("checks"); !strings.Contains(checks["recorded-gone"].Reason,
		"gone: 2; free to start where they are, and left alone: 1; no longer selected, and left alone: 0") {
		t.Errorf("%+v", checks["recorded-gone"])
	}
}

// TestNewPodsAreFoundWhateverTheSelector: it names the version of Prow that erred,
// which those that it should find don't have.
func TestNewPodsAreFoundWhateverTheSelector(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.controller()
	s.job("a", "")
	s.pod(s.astray, "a", func(pod *corev1.Pod) { pod.Labels["prow.k8s.io/plank-version"] = "v20190205" })
	s.pod(s.astray, "b", nil)
	s.inputs.Selector += ",prow.k8s.io/plank-version=v20190205"
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "b")
	said := s.findings("checks")["jobs-accounted-for"].Reason
	if said != "jobs with new pods: 1, complete: 0, to be started again: 0" {
		t.Error(said)
	}
}

// TestTheSourceComesBack: a new pod is made elsewhere after the first was deleted.
func TestTheSourceComesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.controller()
	s.stranded("a", "b", "c")
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepEnded && event.Step == "delete-first" {
			s.pod(s.astray, "new", nil)
			s.age(time.Minute)
		}
	}
	result := s.run()
	s.ends(result, runbook.NeedsAttention, "while the source is at work")
	s.remain(s.astray, "b", "c", "new")
	if !result.Open {
		t.Error("the run can't go on")
	}
	s.age(10 * time.Minute)
	s.seen = nil
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "new") // it is for the next run, which records it first
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
}

// findings are the newest of a purpose.
func (s *stage) findings(purpose string) map[string]runbook.Finding {
	found := map[string]runbook.Finding{}
	for _, event := range s.events {
		if event.Finding != nil && event.Step == purpose {
			found[event.Finding.Guard] = *event.Finding
		}
	}
	return found
}

// recalling is a run as far as the journal holds it.
type recalling struct {
	runbook.Run
	record *journal.Record
}

func (r recalling) Recall(name string, into any) (bool, error) { return r.record.Recall(name, into) }

func unzipped(t *testing.T, piece []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(piece))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

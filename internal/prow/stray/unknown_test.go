package stray_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

// TestWhatIsNotSeenIsUnknown: which rules lack what, and what the others find all the same.
func TestWhatIsNotSeenIsUnknown(t *testing.T) {
	astray := []string{stray.Stray, stray.Canary, stray.Mount}
	inForce := append(astray, stray.Podless, stray.Storm, stray.Wedged)
	absent := []string{stray.Podless, stray.Storm, stray.Wedged}
	narrow := func(namespaces ...string) cluster.Health {
		return cluster.Health{Coverage: cluster.Coverage{Refused: errRefused, Namespaces: namespaces}}
	}
	for name, test := range map[string]struct {
		change  func(p *prow)
		unknown []string
		blind   []string
		because string
	}{
		"pods of named namespaces alone": {func(p *prow) { p.view.PodHealth = narrow("default", "test-pods") },
			append(astray, stray.Wedged), nil, "pods of other namespaces are not seen"},
		"no pods where they belong": {func(p *prow) { p.view.PodHealth = narrow("default") },
			stray.Rules(), absent, "pods are not seen: namespaces [default] only"},
		"pods that are not current": {func(p *prow) { p.view.PodHealth.Err = errors.New("connection refused") },
			stray.Rules(), absent, "pods are not seen: connection refused"},
		"ProwJobs that are not current": {func(p *prow) { p.view.JobHealth.Err = errors.New("not listed yet") },
			stray.Rules(), absent, "ProwJobs are not seen: not listed yet"},
		"no ProwJobs where they are": {func(p *prow) { p.view.JobHealth = narrow("default") },
			stray.Rules(), absent, "ProwJobs are not seen: namespaces [default] only"},
		"a ProwJob that can't be read": {func(p *prow) {
			p.view.MalformedJobs = []cluster.Malformed{{Namespace: "prow", Name: "x", Why: errors.New("spec.type is 7")}}
		}, []string{stray.Podless, stray.Wedged, stray.Agree}, nil, "can't be read, such as prow/x: spec.type is 7"},
		"a pod where it belongs of which nothing can be read": {func(p *prow) {
			p.view.MalformedPods = []cluster.Malformed{{Namespace: "test-pods", Name: "x", Why: errors.New("too much")}}
		}, append(astray, stray.Wedged), nil, "1 pods can't be read, such as test-pods/x: too much"},
		"a pod of which nothing can be read": {func(p *prow) {
			p.view.MalformedPods = []cluster.Malformed{{Namespace: "n", Name: "x", Why: errors.New("too much")}}
		}, append(astray, stray.Wedged), nil, "1 pods can't be read"},
		"when plank took over": {func(p *prow) {
			p.view.Rollout = stray.Rollout{Lack: finding.Lack{Reason: "leases are forbidden"}}
		}, []string{stray.Canary}, nil, "leases are forbidden"},
		"events": {func(p *prow) { p.view.MissingLack.Reason = "events are forbidden" },
			[]string{stray.Mount}, nil, "events are forbidden"},
		"the configuration in the cluster": {func(p *prow) { p.view.Sources.Reason = "pod_namespace differs" },
			stray.Rules(), nil, "pod_namespace differs"},
		"another configuration in the cluster that was read": {func(p *prow) {
			p.view.Sources = stray.Sources{Lack: finding.Lack{Reason: "pod_namespace differs"}, Differs: true}
		}, inForce, nil, "pod_namespace differs"},
		"other build clusters": {func(p *prow) { p.instance.Others = []string{"build-2"} },
			absent, nil, "jobs of build cluster build-2 are not looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			p := aProw().deploying().astray(2*time.Minute, "a", "b", "c")
			p.view.PodHealth = cluster.Health{}
			test.change(p)
			result := p.evaluate(t)
			for _, verdict := range result.Verdicts {
				want := slices.Contains(test.unknown, verdict.Rule)
				if (verdict.Reason != "") != want || want && !strings.Contains(verdict.Reason, test.because) {
					t.Errorf("rule %s lacks %q", verdict.Rule, verdict.Reason)
				}
				if verdict.Reason != "" && !verdict.Severity.AtLeast(finding.Unknown) {
					t.Errorf("rule %s is %s", verdict.Rule, verdict.Severity)
				}
				if got := result.Blind[verdict.Rule]; got != slices.Contains(test.blind, verdict.Rule) {
					t.Errorf("rule %s is blind: %t", verdict.Rule, got)
				}
			}
			if severity(result, stray.Stray) != finding.Alert {
				t.Errorf("the strays that are seen are not told: %s", text(result))
			}
			if told := severity(result, stray.Podless) == finding.Alert; told == (test.blind != nil) {
				t.Errorf("jobs without a pod are told: %t: %s", told, text(result))
			}
		})
	}
	t.Run("a pod that can't be read is there", func(t *testing.T) {
		p := aProw().astray(9*time.Minute, "a", "b", "c", "d", "e")
		for _, job := range p.jobs {
			p.view.MalformedPods = append(p.view.MalformedPods, cluster.Malformed{Namespace: "test-pods", Name: job.Name,
				Why: errors.New("too much")})
		}
		result := p.evaluate(t)
		if severity(result, stray.Podless) != none || severity(result, stray.Storm) != none {
			t.Error(text(result))
		}
	})
	t.Run("ProwJobs of others that can't be read are theirs", func(t *testing.T) {
		p := aProw()
		p.view.MalformedJobs = []cluster.Malformed{{Namespace: "other", Name: "x", Why: errors.New("no")}}
		if unknown := unknownRules(p.evaluate(t)); unknown != nil {
			t.Errorf("%q are UNKNOWN", unknown)
		}
	})
	t.Run("whether an object is where pods belong", func(t *testing.T) {
		p := aProw().astray(time.Second, "a")
		p.missing(p.pods["default/a"], false)
		for uid := range p.view.Missing {
			p.view.Missing[uid][0].BelongsLack.Reason = "secrets are forbidden"
		}
		if lack := lackOf(p.evaluate(t), stray.Mount); lack.Reason != "secrets are forbidden" {
			t.Errorf("%+v", lack)
		}
	})
}

// TestWhatIsGoneCounts: plank deletes the pods that time out, and sinker collects jobs.
func TestWhatIsGoneCounts(t *testing.T) {
	t.Run("pods of the last minutes, for a share", func(t *testing.T) {
		p, alarm := aProw().astray(time.Minute, "a", "b", "c"), (*stray.Alarm)(nil)
		alarm = stray.New(p.instance)
		for i := range 97 {
			p.job(fmt.Sprint(i), 30*time.Second)
			alarm.PodGone(p.pod("test-pods", fmt.Sprint(i), time.Minute), p.jobs)
			delete(p.pods, fmt.Sprint("test-pods/", i))
			alarm.PodGone(cluster.Pod{Namespace: "test-pods", Name: fmt.Sprint("hand-", i), Created: ago(time.Minute)}, p.jobs)
			alarm.PodGone(cluster.Pod{Namespace: "others", Name: fmt.Sprint(i), Created: ago(time.Minute)}, p.jobs)
		}
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Warn {
			t.Errorf("three strays of a hundred pods are %q", got)
		}
		p.view.Now = now.Add(time.Hour)
		p.astray(-59*time.Minute, "d", "e", "f")
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Alert {
			t.Errorf("three strays an hour later are %q", got)
		}
	})
	t.Run("and not those of another time", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a", "b", "c")
		alarm := stray.New(p.instance)
		alarm.PodGone(p.healthy(1, time.Minute).pods["test-pods/healthy-0-1m0s"], p.jobs)
		for _, pod := range aProw().healthy(100, 370*time.Second).pods { // as old as the memory is long
			p.job(pod.Name, 10*time.Second)
			alarm.PodGone(pod, p.jobs)
		}
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Alert {
			t.Errorf("three strays of four pods are %q", got)
		}
	})
	t.Run("strays of the last minutes, for an alarm", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a", "b", "c")
		alarm := stray.New(p.instance)
		for _, name := range []string{"a", "b"} {
			alarm.PodGone(p.pods["default/"+name], p.jobs)
			delete(p.pods, "default/"+name)
		}
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Alert {
			t.Errorf("two that are gone and one that is there are %q", got)
		}
	})
	t.Run("and not those of others", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a", "b", "c")
		alarm := stray.New(p.instance)
		for i := range 100 {
			alarm.PodGone(cluster.Pod{Namespace: "others", Name: fmt.Sprint(i), Created: ago(time.Minute)}, p.jobs)
		}
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Alert {
			t.Errorf("three strays of three pods are %q", got)
		}
	})
	t.Run("strays of almost five minutes ago too", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a")
		alarm := stray.New(p.instance)
		for _, name := range []string{"b", "c"} {
			p.job(name, 295*time.Second)
			alarm.PodGone(p.pod("default", name, 295*time.Second), p.jobs)
			delete(p.pods, "default/"+name)
		}
		if got := severity(p.evaluateBy(t, alarm), stray.Stray); got != finding.Alert {
			t.Errorf("two that are gone and one that is there are %q", got)
		}
	})
	t.Run("jobs, to know their pods by", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a")
		alarm := stray.New(p.instance)
		alarm.JobGone(p.jobs["prow/a"])
		alarm.JobGone(cluster.Job{Namespace: "other", Name: "b", Job: "pull-b", PodNamespace: "x"})
		delete(p.jobs, "prow/a")
		p.pod("default", "b", time.Minute)
		if result := p.evaluateBy(t, alarm); result.Counts.Strays != 1 {
			t.Errorf("%d strays: %s", result.Counts.Strays, text(result))
		}
	})
	t.Run("and not for ever", func(t *testing.T) {
		p := aProw()
		alarm := stray.New(p.instance)
		for i := range 10_002 {
			alarm.JobGone(cluster.Job{
				Namespace: "prow", Name: fmt.Sprint(i), Job: fmt.Sprint("pull-", i), PodNamespace: "test-pods",
			})
		}
		for range 10_000 { // what goes twice takes no more room
			alarm.JobGone(cluster.Job{Namespace: "prow", Name: "10001", Job: "pull-10001", PodNamespace: "test-pods"})
		}
		for _, name := range []string{"0", "1", "2", "10001"} {
			p.pod("default", name, time.Hour)
		}
		if result := p.evaluateBy(t, alarm); result.Counts.Strays != 2 {
			t.Errorf("%d strays: %s", result.Counts.Strays, text(result))
		}
	})
}

// TestFirstPodsAreStraysToo: those after them are none, wherever they are.
func TestFirstPodsAreStraysToo(t *testing.T) {
	p := aProw().astray(time.Second, "late")
	p.view.Rollout.At = ago(2 * time.Hour)
	for i := range 25 {
		p.astray(90*time.Minute, fmt.Sprint("first-", i))
	}
	for _, f := range p.evaluate(t).Findings {
		if f.Rule == stray.Canary && !strings.HasSuffix(f.Evidence[0], ", 20 more") {
			t.Errorf("the first pods are %q", f.Evidence)
		}
	}
}

// TestAPodWithoutATimeIsGone, which no API server makes.
func TestAPodWithoutATimeIsGone(t *testing.T) {
	p := aProw()
	alarm := stray.New(p.instance)
	p.job("a", time.Minute)
	alarm.PodGone(p.pod("test-pods", "a", 0, func(pod *cluster.Pod) { pod.Created = time.Time{} }), p.jobs)
	p.evaluateBy(t, alarm)
}

// TestWhatIsSaid is a small outage in all words.
func TestWhatIsSaid(t *testing.T) {
	p := aProw().deploying().healthy(2, 2*time.Hour)
	p.view.Rollout.At = ago(4 * time.Minute)
	for i, name := range []string{"g", "f", "e", "d", "c", "b"} { // the last one is the oldest
		p.astray(time.Duration(i+1)*30*time.Second, name)
	}
	p.job("deploy", 20*time.Second, ofDeploy)
	p.pod("default", "deploy", 20*time.Second)
	p.missing(p.pods["default/b"], true)
	result := p.evaluate(t)
	result.Findings.Sort()
	var lines []string
	for _, f := range result.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Message))
		lines = append(lines, f.Evidence...)
		lines = append(lines, f.Mend)
	}
	want, err := os.ReadFile("testdata/outage.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), strings.Join(lines, "\n")+"\n"); diff != "" {
		t.Error(diff)
	}
}

// TestThe415 is the day itself with the timeouts of 2019: what is said while jobs hang, and how much is asked.
func TestThe415(t *testing.T) {
	p := aProw().healthy(100, 2*time.Hour)
	p.instance.PendingTimeout = time.Hour
	p.view.Rollout.At = ago(36 * time.Minute)
	for i := range 415 {
		p.astray(time.Duration(i%35+1)*time.Minute, fmt.Sprint("stray-", i))
	}
	for _, pod := range p.pods {
		if pod.Namespace == "default" {
			p.missing(pod, true)
		}
	}
	result := p.evaluate(t)
	for _, rule := range []string{stray.Stray, stray.Canary, stray.Podless, stray.Storm, stray.Mount} {
		if got := severity(result, rule); got != finding.Alert {
			t.Errorf("rule %s says %q", rule, got)
		}
	}
	if result.Counts.Strays != 415 || len(result.Waiting) != 20 || len(result.Findings) != 5 {
		t.Errorf("%+v, %d are asked about, found: %s", result.Counts, len(result.Waiting), text(result))
	}
	for _, f := range result.Findings {
		if len(strings.Join(f.Evidence, "")) > 2000 {
			t.Errorf("the evidence of %s has no end", f.Rule)
		}
	}
}

// BenchmarkEvaluate is one moment of a large Prow.
func BenchmarkEvaluate(b *testing.B) {
	p := aProw()
	for i := range 50_000 {
		name := fmt.Sprint(i)
		if i < 20_000 {
			p.job(name, time.Hour, func(job *cluster.Job) { job.State, job.Completed = cluster.Success, ago(time.Minute) })
		}
		p.pod("test-pods", name, time.Hour, running)
	}
	alarm := stray.New(p.instance)
	for b.Loop() {
		if _, err := alarm.Evaluate(p.view); err != nil {
			b.Fatal(err)
		}
	}
}

package helmrelease_test

import (
	"context"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/internal/helm"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/helmrelease"
)

func TestInstallsAndUpgrades(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	own := labelled
	own.Name = s.in.Namespace
	s.order.Namespaces = append(s.order.Namespaces, own)
	s.ends(runbook.Remediated, "")
	s.revisions("deployed")
	namespace, err := s.plane.Client().CoreV1().Namespaces().Get(t.Context(), s.in.Namespace, metav1.GetOptions{})
	if err != nil || namespace.Labels["team"] != "web" {
		t.Errorf("the namespace's labels: %v, %v", namespace.Labels, err)
	}
	s.order.Values["replicas"] = 2
	s.ends(runbook.Remediated, "")
	s.revisions("deployed", "superseded")
	if there := s.deployment(); there.Status.ReadyReplicas != 2 {
		t.Errorf("%d are ready", there.Status.ReadyReplicas)
	}
}

func TestAnUpgradeThatFails(t *testing.T) {
	t.Parallel()
	for rule, test := range map[string]struct {
		rollback  bool
		says      string
		revisions []string
	}{
		"is taken back":                  {true, "rolled back", []string{"deployed", "failed", "superseded"}},
		"stays where nobody asks for it": {false, "Deployment", []string{"failed", "deployed"}},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.ends(runbook.Remediated, "")
			s.order.Values["nowhere"], s.order.Timeout, s.order.Rollback = true, 8*time.Second, test.rollback
			s.ends(runbook.NeedsAttention, test.says)
			s.revisions(test.revisions...)
			if there := s.deployment(); (there.Spec.Template.Spec.NodeSelector == nil) != test.rollback {
				t.Errorf("the deployment selects %v", there.Spec.Template.Spec.NodeSelector)
			}
			// The run is open: it goes on with what was mended.
			delete(s.order.Values, "nowhere")
			s.order.Timeout = time.Minute
			s.ends(runbook.Remediated, "")
		})
	}
}

// TestWhatIsLeftPending by this run is finished, and what others have begun is left alone.
func TestWhatIsLeftPending(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.through = cutAt("/deployments/web", cancel)
	if result := s.run(ctx); result.Outcome == runbook.Remediated {
		t.Fatal("it ended well without its connection")
	}
	s.through = nil
	s.revisions("pending-install")

	other := *s
	other.journal = journalOfItsOwn()
	other.ends(runbook.Deferred, "revision 1 of release web is pending-install since ")

	s.ends(runbook.Remediated, "")
	s.revisions("deployed", "failed")
}

func TestNothingIsChangedWithoutAPermit(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	client := &helm.Client{Cluster: s.cluster(), Namespace: s.in.Namespace}
	err := client.Apply(t.Context(), helm.Order{
		Name: "web", Chart: s.order.Chart, Values: s.order.Values, Run: "r", Timeout: time.Minute,
	})
	if err == nil || !strings.Contains(err.Error(), "no permit") {
		t.Errorf("applied without a permit: %v", err)
	}
	s.revisions()
}

// TestNothingGoesOnAfterTheContext: Helm's own requests know no context.
func TestNothingGoesOnAfterTheContext(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	config, err := s.cluster().Within(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	client, err := clientOf(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ServerVersion(); err == nil {
		t.Error("a request was made after its context had ended")
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	for rule, test := range map[string]struct {
		change  func(*scene)
		outcome runbook.Outcome
		says    string
	}{
		"a template that fails": {func(s *scene) {
			s.chart(map[string]string{"Chart.yaml": chart["Chart.yaml"], "templates/a.yaml": `{{ fail "no way" }}`})
		}, runbook.Failed, "no way"},
		"a kind that the cluster doesn't have": {func(s *scene) {
			s.chart(map[string]string{
				"Chart.yaml":       chart["Chart.yaml"],
				"templates/a.yaml": "apiVersion: none.example/v1\nkind: None\nmetadata: {name: a}",
			})
		}, runbook.Failed, `no matches for kind "None"`},
		"another cluster": {func(s *scene) { s.in.Cluster = "other" }, runbook.Failed, "another cluster answers"},
		"a cluster that doesn't answer": {func(s *scene) {
			s.through = func(http.RoundTripper) http.RoundTripper {
				return roundTrip(func(*http.Request) (*http.Response, error) {
					return nil, apierr.New(apierr.Denied, "nobody there")
				})
			}
		}, runbook.Undecided, "nobody there"},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			test.change(s)
			s.ends(test.outcome, test.says)
			s.through = nil
			s.revisions()
		})
	}
}

// TestSecretsStayOut of record and preview, also where Helm quotes them.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	const secret, former = "hunter2-new", "hunter2-old"
	s := newScene(t)
	s.order.Mask = func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	s.order.Values["password"], s.order.Values["greeting"] = former, former
	s.ends(runbook.Remediated, "")
	s.order.Values["password"], s.order.Values["greeting"], s.order.Values["replicas"] = secret, secret, 2
	said, err := helmrelease.Preview(t.Context(), helmrelease.World{Kubernetes: s.cluster(), Clock: clock.RealClock{}},
		s.in, s.order)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"upgrades release web, revision 1, with chart web 1.2.3", "~ Secret web: stringData.password",
		"~ ConfigMap web: data.greeting", "~ Deployment web: spec.replicas 1 → 2",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the preview lacks %q:\n%s", want, said)
		}
	}
	s.revisions("deployed")
	s.chart(map[string]string{"Chart.yaml": chart["Chart.yaml"], "templates/a.yaml": `{{ fail .Values.password }}`})
	s.ends(runbook.Failed, "***")
	if all := said + s.recorded(); strings.Contains(all, "hunter2") {
		t.Errorf("a secret is shown: %s", said)
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	good := helmrelease.Inputs{Cluster: "c", Namespace: "n", Release: "r"}
	order := helmrelease.Order{Timeout: time.Minute}
	for says, change := range map[string]func(*helmrelease.Inputs, *helmrelease.Order){
		"release \"R\"":      func(in *helmrelease.Inputs, _ *helmrelease.Order) { in.Release = "R" },
		"namespace \"../a\"": func(in *helmrelease.Inputs, _ *helmrelease.Order) { in.Namespace = "../a" },
		"identity":           func(in *helmrelease.Inputs, _ *helmrelease.Order) { in.Cluster = "" },
		"timeout":            func(_ *helmrelease.Inputs, order *helmrelease.Order) { order.Timeout = 0 },
	} {
		in, order := good, order
		change(&in, &order)
		if _, err := helmrelease.New(helmrelease.World{}, in, order); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

// every is the sample of cuts that are tried: an odd one tries both kinds.
var every = flag.Int("every", 23, "kill runs at every n-th journal write and call")

// TestCrashAnywhere: killed at a request or a write, and resumed, the release is deployed.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	for rule, before := range map[string]func(*scene){
		"of an install": func(*scene) {},
		"of an upgrade": func(s *scene) {
			s.ends(runbook.Remediated, "")
			s.order.Values["greeting"], s.order.Rollback = "good morning", true
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World { return killed(t, before) },
				runbooktest.EveryNth(*every))
		})
	}
}

func killed(t *testing.T, before func(*scene)) runbooktest.World {
	s := newScene(t)
	before(s)
	return runbooktest.World{
		Start: func(process *runbooktest.Process) runbook.Runbook {
			s.through = func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) }
			return s.book()
		},
		Verify: func() {
			if there := s.deployment(); there.Status.ReadyReplicas != 1 {
				t.Errorf("%d are ready", there.Status.ReadyReplicas)
			}
		},
		// Server-side apply of the same content changes nothing.
		MayRepeat: func(change string) bool { return strings.HasPrefix(change, http.MethodPatch+" ") },
	}
}

package removeoperator_test

import (
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/kubetest"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// sample is every which cut is tried by default. It is no multiple of two: cuts
// before and after take turns.
const sample = 89

// whole asks for every cut, which takes longer than a test should.
var whole = flag.Bool("whole", false, "kill runs at every journal write and every call, not at a sample of them")

// dying is what a run is killed on: something of every kind that it removes.
func dying(t testing.TB) *operator {
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo / 2 // a namespace is waited for twice
	o.deployment(0)
	o.rights()
	o.hooks()
	o.widget("plain")
	o.widget("stuck", held(o.finalizer()))
	o.configMap(o.team, "bystander")
	return o
}

// TestCrashAnywhere kills the run before and after writes to the journal and calls to
// the cluster. The next one goes on, and nothing is left and nothing else is touched.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	nth := sample
	if *whole {
		nth = 1
	}
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		o := dying(t)
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				config := o.plane.Config()
				config.Wrap(func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) })
				cluster, err := kube.ForConfig(config, clock.RealClock{})
				o.must(err)
				o.cluster = cluster
				return o.book()
			},
			// A deletion names the object's UID: of one that is going already it changes nothing.
			MayRepeat: func(change string) bool { return strings.HasPrefix(change, http.MethodDelete+" ") },
			Verify: func() {
				o.removed()
				_, err := o.admin.Client.CoreV1().ConfigMaps(o.team).Get(t.Context(), "bystander", metav1.GetOptions{})
				if err != nil {
					t.Errorf("the bystander: %v", err)
				}
			},
		}
	}, runbooktest.EveryNth(nth))
}

// TestTheAPIServerRestartsInTheMiddle: the run waits for it and goes on.
func TestTheAPIServerRestartsInTheMiddle(t *testing.T) {
	t.Parallel()
	plane, err := kubetest.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	o := retiredOn(t, plane)
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		o.widget(name, held(o.finalizer()))
	}
	restarted := make(chan struct{})
	o.when(engine.StepBegan, "delete-objects", func() {
		plane.StopAPIServer(t)
		go func() {
			defer close(restarted)
			time.Sleep(time.Second)
			plane.StartAPIServer(t)
		}()
	})
	result := o.run()
	<-restarted
	o.ends(result, runbook.Remediated)
	o.removed()
}

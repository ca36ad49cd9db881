package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/internal/clock"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// speed of the embedded world's clock: fast, and slow enough for a busy machine.
const speed = 60

// bench is an embedded world that outlives the commands run on it.
type bench struct {
	t        *testing.T
	scenario azuresim.Scenario
	world    *azuresim.World
	clock    clock.Clock
	journal  string
	// after is told of each request once it was answered.
	after func(*http.Request)
	// byHand: the test writes records that no run of this program has left.
	byHand bool
	// variables are those of the environment, besides the key's.
	variables map[string]string
}

func newBench(t *testing.T, name string) *bench {
	t.Helper()
	return newBenchOf(t, name, func(*azuresim.Scenario) {})
}

// newBenchOf is a bench of a scenario that is changed before it begins.
func newBenchOf(t *testing.T, name string, change func(*azuresim.Scenario)) *bench {
	t.Helper()
	scenario, err := azuresim.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	change(&scenario)
	b := &bench{t: t, scenario: scenario, clock: clock.NewScaled(speed), journal: t.TempDir()}
	if b.world, err = azuresim.New(scenario, azuresim.Options{Clock: b.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.world.Close)
	t.Cleanup(b.replayed)
	return b
}

// RoundTrip carries a request to the world.
func (b *bench) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.world.Transport().Do(request)
	if b.after != nil {
		b.after(request)
	}
	return answer, err
}

var _ http.RoundTripper = (*bench)(nil)

func (b *bench) connect(_ cloudFlags, in recreatepool.Inputs) (recreatepool.World, error) {
	client, err := azure.New(azure.Options{
		Subscription: in.Subscription, Credential: b.world.Credential(), Transport: b, Clock: b.clock,
	})
	if err != nil {
		return recreatepool.World{}, err
	}
	cluster, err := kube.ForConfig(b.world.KubernetesConfig(), b.clock)
	return recreatepool.World{
		Azure: client, Clock: b.clock, Kubernetes: func(context.Context) (*kube.Cluster, error) { return cluster, nil },
	}, err
}

// types runs a command and checks its exit code.
func (b *bench) types(want int, arguments ...string) (stdout, stderr string) {
	b.t.Helper()
	var out, log bytes.Buffer
	a := &app{stdout: &out, stderr: &log, arguments: arguments, lookup: b.lookup, connect: b.connect,
		program: Options{Runbooks: BuiltIn()}}
	if got := execute(a); got != want {
		b.t.Fatalf("salve %s: exit code %d, want %d\n%s\n%s",
			strings.Join(arguments, " "), got, want, out.String(), log.String())
	}
	return out.String(), log.String()
}

// lookup is the environment: the key is where journal.NewFile looks for it.
func (b *bench) lookup(name string) string {
	switch name {
	case keyFileVariable:
		return filepath.Join(b.journal, "key")
	case "XDG_STATE_HOME":
		return filepath.Join(b.journal, "state")
	}
	return b.variables[name]
}

// onCluster are the arguments that name the scenario's cluster.
func (b *bench) onCluster(arguments ...string) []string {
	return append(arguments, "--subscription", b.scenario.Subscription, "--resource-group", b.scenario.ResourceGroup,
		"--cluster", b.scenario.Cluster, "--journal", b.journal)
}

func (b *bench) runs() []string {
	b.t.Helper()
	runs, err := journal.NewFile(b.journal).Runs(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return runs
}

// interruptAfter sends the process a SIGINT once a request was answered.
func (b *bench) interruptAfter(method, path string) {
	b.after = func(request *http.Request) {
		if request.Method == method && strings.HasSuffix(strings.ToLower(request.URL.Path), path) {
			b.after = nil
			if err := interruptSelf(); err != nil {
				b.t.Error(err)
			}
		}
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// TestInterruptedRunIsResumed: the command that the last line names goes on with
// the run, past the point of no return.
func TestInterruptedRunIsResumed(t *testing.T) {
	b := newBench(t, "wedged")
	b.interruptAfter(http.MethodDelete, "/agentpools/system")
	out, log := b.types(exitNeedsAttention, b.onCluster("run", recreatepool.Name)...)
	contains(t, log, "Interrupted: stopping where it is safe to.")
	command := "salve resume " + b.runs()[0] + " --journal " + b.journal
	contains(t, out, "interrupted; the run is open", "To go on: "+command)

	plan, _ := b.types(exitDecided, b.onCluster("plan", recreatepool.Name)...)
	contains(t, plan, "Warning: run "+b.runs()[0]+" is open on this target: a run would go on with it",
		"To go on: "+command)

	out, _ = b.types(exitDecided, strings.Fields(command)[1:]...)
	contains(t, out, "── the point of no return ──", "resumed", "✓ recreate",
		"Remediated aks-1/system: all final checks hold.")
	b.types(exitUsage, strings.Fields(command)[1:]...)
}

// TestRoleFinishesWhatIsBegun: a pool that an interrupted run has deleted shows no
// role any more. The next run by role goes on with it first.
func TestRoleFinishesWhatIsBegun(t *testing.T) {
	b := newBench(t, "two-pools")
	b.interruptAfter(http.MethodDelete, "/agentpools/system")
	byRole := b.onCluster("run", recreatepool.Name, "--role", "system")
	out, _ := b.types(exitNeedsAttention, byRole...)
	if contains(t, out, "Needs attention, aks-1/system"); len(b.runs()) != 1 {
		t.Fatalf("the second pool was begun although the first stands half done: %v", b.runs())
	}
	b.awaitGone("system")
	out, _ = b.types(exitDecided, byRole...)
	contains(t, out, "resumed", "2 pools, one after the other: aks-1/system remediated, aks-1/infra remediated.")
}

// awaitGone waits until a pool is deleted.
func (b *bench) awaitGone(pool string) {
	b.t.Helper()
	world, err := b.connect(cloudFlags{}, recreatepool.Inputs{Subscription: b.scenario.Subscription})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := clock.WithTimeout(context.Background(), b.clock, time.Hour)
	defer cancel()
	for {
		cluster, err := world.Azure.Cluster(ctx, b.scenario.ResourceGroup, b.scenario.Cluster)
		if err != nil {
			b.t.Fatal(err)
		}
		if _, there := cluster.Pool(pool); !there {
			return
		}
		if err := clock.Sleep(ctx, b.clock, time.Second); err != nil {
			b.t.Fatal(err)
		}
	}
}

// target is the ID of the pool "system".
func (b *bench) target() string {
	cluster := azure.ClusterID(b.scenario.Subscription, b.scenario.ResourceGroup, b.scenario.Cluster)
	return strings.ToLower(azure.PoolID(cluster, "system"))
}

// TestHeldLease: another runner is named, and nothing is done.
func TestHeldLease(t *testing.T) {
	b := newBench(t, "healthy")
	lease, err := journal.NewFile(b.journal).Lock(context.Background(),
		journal.Claim{Target: b.target(), Holder: journal.Holder{Run: "run-1", User: "ana", Host: "laptop", PID: 42}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lease.Release(context.Background()) }()
	out, log := b.types(exitFailed, b.onCluster("run", recreatepool.Name)...)
	contains(t, log, "is held by run run-1 of ana on host laptop (process 42)", "--wait-for-lease")
	if out != "" || strings.Count(log, "\nsalve: ") != 1 || strings.Count(log, "\n") != 2 {
		t.Errorf("more than what is begun and one line was said: %q %q", out, log)
	}
	_, log = b.types(exitFailed, append(b.onCluster("run", recreatepool.Name), "--wait-for-lease", "30s")...)
	contains(t, log, "Waiting for the lease for at most 30s", "is held by run run-1")
}

// TestLeaseOfADeadRunnerIsWaitedForAloud: it is taken over after its time, and until then it is said whose it is.
func TestLeaseOfADeadRunnerIsWaitedForAloud(t *testing.T) {
	b := newBench(t, "healthy")
	cluster, err := kube.ForConfig(b.world.KubernetesConfig(), b.clock)
	if err != nil {
		t.Fatal(err)
	}
	locks := func(clk clock.Clock) journal.Lease {
		timed := *cluster
		timed.Clock = clk
		flags := &journalFlags{locationFlags: locationFlags{
			namespace: configmap.DefaultNamespace, lease: configmap.DefaultLease}}
		kept, err := flags.configMaps(&timed)
		if err != nil {
			t.Fatal(err)
		}
		lease, err := kept.Lock(t.Context(), journal.Claim{Target: b.target(), Holder: journal.Holder{
			Run: "run-1", User: "ana", Host: "laptop", PID: 42, Since: time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	if err := locks(b.clock).Release(t.Context()); err != nil { // so that there is a lease, which takes time to make
		t.Fatal(err)
	}
	locks(clocktesting.NewFakeClock(time.Now())) // its time stands still: it never renews
	_, log := b.types(exitDecided, b.onCluster("run", recreatepool.Name)...)
	contains(t, log, "Waiting for the lease of run run-1 of ana on host laptop (process 42) since ",
		"it is taken over at ", " UTC, in 15s, unless there is a sign of life")
	if told := strings.Count(log, "Waiting for the lease"); told > 2 {
		t.Errorf("at once and after ten seconds is twice at most, and not %d times: %s", told, log)
	}
}

// TestHeldLeaseIsRetried: a lease is waited for as long as was asked, and no longer.
func TestHeldLeaseIsRetried(t *testing.T) {
	held := &journal.HeldError{Target: "t", Holder: journal.Holder{User: "ana"}}
	for _, test := range []struct {
		name     string
		patience time.Duration
		freed    int // the attempt at which the lease is free
		attempts int
	}{
		{"at once", 0, 9, 1}, {"until it is free", time.Minute, 4, 4}, {"until patience ends", 5 * time.Second, 9, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				watch := &watch{app: &app{stderr: &log}, clock: clock.Real{}}
				attempts := 0
				_, err := retryWhileHeld(t.Context(), watch, test.patience, func() (engine.Result, error) {
					if attempts++; attempts == test.freed {
						return engine.Result{}, nil
					}
					return engine.Result{}, held
				})
				if attempts != test.attempts || errors.Is(err, held) == (test.attempts == test.freed) {
					t.Errorf("%d attempts, want %d; ended with %v", attempts, test.attempts, err)
				}
				if told := strings.Count(log.String(), "Waiting for the lease"); told > 1 {
					t.Errorf("it was said %d times", told)
				}
			})
		})
	}
}

// TestForeignRunbook: a run of a runbook that this program lacks is one clear line.
func TestForeignRunbook(t *testing.T) {
	b := newBench(t, "healthy")
	b.byHand = true
	header := journal.Header{
		Schema: 1, Run: "run-1", Runbook: "mend-the-roof", Version: "1", Target: runbook.Target{ID: "/roof"},
	}
	_, err := journal.Create(context.Background(), journal.NewFile(b.journal), journal.NoLease(1), time.Now, header)
	if err != nil {
		t.Fatal(err)
	}
	_, log := b.types(exitUsage, "resume", "run-1", "--journal", b.journal)
	contains(t, log, `salve: run "run-1" is of runbook "mend-the-roof", which this program does not have`)
}

// TestJournalThatCantBeWritten: without a record nothing is done.
func TestJournalThatCantBeWritten(t *testing.T) {
	b := newBench(t, "wedged")
	b.journal = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(b.journal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, log := b.types(exitFailed, b.onCluster("run", recreatepool.Name)...)
	contains(t, log, "salve: taking the lease: ", "not a directory")
	if operations := b.world.Operations(); len(operations) > 0 {
		t.Errorf("something was changed: %v", operations)
	}
}

// TestSkipGuards: every guard that can be overridden is; the reason that a person
// gave wins.
func TestSkipGuards(t *testing.T) {
	b := newBench(t, "healthy")
	world, err := b.connect(cloudFlags{}, recreatepool.Inputs{Subscription: b.scenario.Subscription})
	if err != nil {
		t.Fatal(err)
	}
	in := recreatepool.Defaults()
	in.Subscription, in.ResourceGroup, in.Cluster = b.scenario.Subscription, b.scenario.ResourceGroup, b.scenario.Cluster
	book, err := recreatepool.New(world, in)
	if err != nil {
		t.Fatal(err)
	}
	asked := &request{skipGuards: true, overrides: map[string]string{"pool-wedged": "seen"}}
	overrides := asked.overridesFor(book)
	for _, guard := range book.Guards {
		want := "SKIP_GUARDS=true"
		switch {
		case guard.NotOverridable:
			want = ""
		case guard.Name == "pool-wedged":
			want = "seen"
		}
		if overrides[guard.Name] != want {
			t.Errorf("the override of %s is %q, want %q", guard.Name, overrides[guard.Name], want)
		}
	}
}

func interruptSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return self.Signal(os.Interrupt)
}

package removeoperator_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// sample is every which cut is tried by default. It is no multiple of two: cuts
// before and after take turns.
const sample = 5

var errKilled = errors.New("killed")

// mortal is a journal whose process dies at a write, before it or right after it.
type mortal struct {
	*journal.Memory
	kill  context.CancelCauseFunc
	at    int
	after bool

	mu     sync.Mutex
	writes int
	dead   bool
}

// Append is a journal write, which may be the last one.
func (m *mortal) Append(ctx context.Context, run string, seq int, line []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	if m.writes++; m.writes != m.at {
		return m.Memory.Append(ctx, run, seq, line)
	}
	m.dead = true
	m.kill(errKilled)
	if m.after {
		return errors.Join(errKilled, m.Memory.Append(ctx, run, seq, line))
	}
	return errKilled
}

func (m *mortal) gone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// dieAt runs in a process that dies at a write, and gives how many there were.
func (o *operator) dieAt(at int, after bool) int {
	o.Helper()
	kept := o.journal.(*journal.Memory)
	ctx, kill := context.WithCancelCause(o.Context())
	defer kill(nil)
	process := &mortal{Memory: kept, kill: kill, at: at, after: after}
	o.cluster = o.through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if process.gone() {
			return nil, errKilled // nothing of a dead process reaches the cluster
		}
		return next.RoundTrip(request)
	})
	book := o.book()
	machine := o.engine()
	machine.Journal = process
	result, err := machine.Run(ctx, book, engine.Options{})
	if process.gone() != (err != nil || result.Unrecorded) {
		o.Fatalf("dying at write %d: %v, %s", at, err, result.Outcome)
	}
	kept.Expire(book.Target.ID)
	o.cluster = connected(o.TB, o.plane.Kubeconfig())
	return process.writes
}

// dying is what a run is killed on: something of every kind that it removes.
func dying(t *testing.T) *operator {
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

// whole asks for every cut, which takes longer than a test should.
var whole = flag.Bool("whole", false, "kill runs before and after every journal write, not a sample of them")

// TestCrashAtEveryWrite kills the run before and after writes to the journal. The
// next one goes on, and nothing is left and nothing else is touched.
func TestCrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	first := dying(t)
	writes := first.dieAt(0, false)
	first.removed()
	t.Logf("%d writes", writes)
	for at := 1; at <= writes; at++ {
		for _, after := range []bool{false, true} {
			if sampled := (2*at+position(after))%sample == 0; !sampled && !*whole {
				continue
			}
			t.Run(fmt.Sprintf("write %d, after it %v", at, after), func(t *testing.T) {
				t.Parallel()
				o := dying(t)
				o.dieAt(at, after)
				result := o.run()
				// A run that died with its last word was remediated already.
				if at != writes || !after {
					o.ends(result, runbook.Remediated)
				} else {
					o.ends(result, runbook.NothingToDo)
				}
				o.removed()
				if _, err := o.admin.Client.CoreV1().ConfigMaps(o.team).Get(t.Context(), "bystander", metav1.GetOptions{}); err != nil {
					t.Errorf("the bystander: %v", err)
				}
			})
		}
	}
}

// position orders the two cuts at a write.
func position(after bool) int {
	if after {
		return 1
	}
	return 0
}

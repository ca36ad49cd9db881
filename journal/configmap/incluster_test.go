package configmap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/journal/configmap"
)

// bench is a journal of its own on the shared control plane.
type bench struct {
	*testing.T
	plane     *kubetest.ControlPlane
	namespace string
}

func newBench(t *testing.T) *bench {
	plane := kubetest.Start(t)
	return &bench{T: t, plane: plane, namespace: plane.Namespace(t)}
}

// runner is one process's way to the journal; through sees its requests.
func (b *bench) runner(lease time.Duration, through func(http.RoundTripper) http.RoundTripper) *configmap.Journal {
	b.Helper()
	config := b.plane.Config()
	if through != nil {
		config.Wrap(through)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	kept, err := configmap.New(configmap.Options{
		Client: client, Clock: clock.RealClock{}, Namespace: b.namespace, Lease: lease,
	})
	if err != nil {
		b.Fatal(err)
	}
	return kept
}

func (b *bench) append(kept *configmap.Journal, seq int, line string) error {
	return kept.Append(b.Context(), "run-1", seq, []byte(line+"\n"))
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) lines(kept *configmap.Journal) []string {
	b.Helper()
	raw, err := kept.Read(b.Context(), "run-1")
	b.must(err)
	var lines []string
	for _, line := range raw {
		lines = append(lines, string(line))
	}
	return lines
}

func TestARecordIsReadFromAnotherMachine(t *testing.T) {
	b := newBench(t)
	here, there := b.runner(0, nil), b.runner(0, nil)
	b.must(here.Create(t.Context(), "run-1"))
	for seq, line := range []string{"one", "two", "three"} {
		b.must(b.append(here, seq+1, line))
	}
	if got := strings.Join(b.lines(there), " "); got != "one two three" {
		t.Errorf("read %q", got)
	}
	b.must(b.append(there, 4, "four"))
	if runs, err := here.Runs(t.Context()); err != nil || strings.Join(runs, " ") != "run-1" {
		t.Errorf("runs %v, %v", runs, err)
	}
}

func TestAMissingNamespaceIsMadeOnlyToWrite(t *testing.T) {
	b := newBench(t)
	b.namespace += "-new"
	kept := b.runner(0, nil)
	if runs, err := kept.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
	if _, err := b.plane.Client().CoreV1().Namespaces().Get(t.Context(), b.namespace, metav1.GetOptions{}); err == nil {
		t.Error("looking made the namespace")
	}
	b.must(kept.Create(t.Context(), "run-1"))
	b.must(b.plane.Client().CoreV1().Namespaces().Delete(t.Context(), b.namespace, metav1.DeleteOptions{}))
}

func TestALongRecordSpansObjects(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	b.must(kept.Create(t.Context(), "run-1"))
	const lines = 40
	for seq := 1; seq <= lines; seq++ {
		b.must(b.append(kept, seq, fmt.Sprint(seq, strings.Repeat("x", 20<<10))))
	}
	objects, err := b.plane.Client().CoreV1().ConfigMaps(b.namespace).
		List(t.Context(), metav1.ListOptions{LabelSelector: "salve-run=run-1"})
	b.must(err)
	if len(objects.Items) < 5 {
		t.Errorf("%d objects hold 800 KiB", len(objects.Items))
	}
	got := b.lines(b.runner(0, nil))
	for i, line := range got {
		if !strings.HasPrefix(line, fmt.Sprint(i+1, "x")) {
			t.Fatalf("line %d begins with %.10s", i+1, line)
		}
	}
	if len(got) != lines {
		t.Errorf("%d lines are left", len(got))
	}
	if err := b.append(kept, lines+1, strings.Repeat("x", 2<<20)); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("a line that no object holds: %v", err)
	}
}

// TestTwoWritersNeverBothSucceed: for each line, one of two writers gets it in;
// the other is told, whatever the lengths of their lines are.
func TestTwoWritersNeverBothSucceed(t *testing.T) {
	b := newBench(t)
	writers := [2]*configmap.Journal{b.runner(0, nil), b.runner(0, nil)}
	b.must(writers[0].Create(t.Context(), "run-1"))
	for seq := 1; seq <= 12; seq++ {
		var went [2]error
		var both sync.WaitGroup
		for i, writer := range writers {
			both.Go(func() {
				length := 10
				if (seq+i)%3 == 0 {
					length = 120 << 10 // begins another object
				}
				went[i] = b.append(writer, seq, fmt.Sprint("writer ", i, strings.Repeat(".", length)))
			})
		}
		both.Wait()
		winner := 0
		if went[0] != nil {
			winner = 1
		}
		if went[winner] != nil || apierr.ClassOf(went[1-winner]) != apierr.Conflict {
			t.Fatalf("line %d: %v; %v", seq, went[0], went[1])
		}
		if got := b.lines(writers[0]); len(got) != seq || !strings.HasPrefix(got[seq-1], fmt.Sprint("writer ", winner)) {
			t.Fatalf("line %d is %.10s of %d, the winner was writer %d", seq, got[len(got)-1], len(got), winner)
		}
	}
}

// TestAStaleWriterIsRefusedAcrossObjects: one that saw the record before another
// object was begun can't add to the one before.
func TestAStaleWriterIsRefusedAcrossObjects(t *testing.T) {
	b := newBench(t)
	stale, fresh := b.runner(0, nil), b.runner(0, nil)
	b.must(stale.Create(t.Context(), "run-1"))
	b.must(b.append(stale, 1, strings.Repeat("x", 100<<10)))
	b.must(b.append(fresh, 2, strings.Repeat("y", 100<<10)))
	if err := b.append(stale, 2, "short enough for the first object"); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("the stale writer: %v", err)
	}
	if got := b.lines(fresh); len(got) != 2 {
		t.Errorf("%d lines", len(got))
	}
}

// lossy drops the answers to writes after they were executed.
type lossy struct {
	next http.RoundTripper
	lose *atomic.Int64
}

func (l lossy) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err == nil && request.Method != http.MethodGet && l.lose.Add(-1) >= 0 {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return response, err
}

func TestALostAnswerDoublesNothing(t *testing.T) {
	b := newBench(t)
	var lose atomic.Int64
	kept := b.runner(2*time.Second, func(next http.RoundTripper) http.RoundTripper { return lossy{next, &lose} })
	lose.Store(1)
	b.must(kept.Create(t.Context(), "run-1"))
	for seq := 1; seq <= 4; seq++ {
		lose.Store(int64(seq % 3))
		b.must(b.append(kept, seq, strings.Repeat("x", 60<<10)))
	}
	if got := b.lines(kept); len(got) != 4 {
		t.Errorf("%d lines", len(got))
	}
	lose.Store(1)
	lease, err := kept.Lock(t.Context(), journal.Claim{Target: "lamp/1"})
	b.must(err)
	if lease.Epoch() != 1 {
		t.Errorf("epoch %d", lease.Epoch())
	}
	lose.Store(1)
	time.Sleep(2 * time.Second) // a renewal's answer is lost
	b.must(lease.Check(t.Context()))
	b.must(lease.Release(t.Context()))
}

// TestEtcdLosesItsAnswer: etcd stops in the middle of an append, which fails. Then
// the line is there or not; written again it is there once.
func TestEtcdLosesItsAnswer(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	b.must(kept.Create(t.Context(), "run-1"))
	b.must(b.append(kept, 1, "one"))
	resume := b.plane.PauseEtcd(t)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := kept.Append(short, "run-1", 2, []byte("two\n")); apierr.ClassOf(err) != apierr.Transient {
		t.Errorf("while etcd stands still: %v", err)
	}
	resume()
	if got := strings.Join(b.lines(b.runner(0, nil)), " "); got != "one" && got != "one two" {
		t.Errorf("the record is %q", got)
	}
	for _, writer := range []*configmap.Journal{kept, b.runner(0, nil)} {
		b.must(b.append(writer, 2, "two"))
	}
	b.must(b.append(kept, 3, "three"))
	if got := strings.Join(b.lines(kept), " "); got != "one two three" {
		t.Errorf("the record is %q", got)
	}
}

func TestAnAppendOutlivesTheAPIServer(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	b.must(kept.Create(t.Context(), "run-1"))
	b.plane.StopAPIServer(t)
	done := make(chan error, 1)
	go func() { done <- b.append(kept, 1, "one") }()
	b.plane.StartAPIServer(t)
	b.must(<-done)
	if got := b.lines(kept); len(got) != 1 {
		t.Errorf("%d lines", len(got))
	}
}

func TestWhatCannotBeKept(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	for _, run := range []string{"", "UPPER", "a/b", "..", strings.Repeat("x", 64), "run,a=b"} {
		if err := kept.Create(t.Context(), run); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("run %q: %v", run, err)
		}
		var missing *journal.MissingError
		if _, err := kept.Read(t.Context(), run); !errors.As(err, &missing) {
			t.Errorf("reading run %q: %v", run, err)
		}
	}
	b.must(kept.Create(t.Context(), "run-1"))
	if err := kept.Create(t.Context(), "run-1"); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("a run of the same name: %v", err)
	}
	for _, wrong := range []configmap.Options{
		{Namespace: "Not A Name"}, {Lease: -time.Second}, {Lease: 1500 * time.Millisecond}, {Lease: time.Hour},
	} {
		if _, err := configmap.New(wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

func TestARecordThatSomebodyTouchedIsBroken(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	b.must(kept.Create(t.Context(), "run-1"))
	for seq := 1; seq <= 3; seq++ {
		b.must(b.append(kept, seq, "line"))
	}
	maps := b.plane.Client().CoreV1().ConfigMaps(b.namespace)
	object, err := maps.Get(t.Context(), "run-run-1-1", metav1.GetOptions{})
	b.must(err)
	delete(object.Data, "000002")
	_, err = maps.Update(context.WithoutCancel(t.Context()), object, metav1.UpdateOptions{})
	b.must(err)
	var broken *journal.BrokenError
	if _, err := kept.Read(t.Context(), "run-1"); !errors.As(err, &broken) || broken.Line != 2 {
		t.Errorf("reading it: %v", err)
	}
}

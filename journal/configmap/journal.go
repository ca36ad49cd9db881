package configmap

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
)

const (
	// DefaultNamespace is made when it is absent.
	DefaultNamespace = "salve-system"
	// DefaultLease is how long a target stays locked after its holder's last sign
	// of life.
	DefaultLease = 15 * time.Second
	// ShortestLease is the unit in which the API keeps durations.
	ShortestLease = time.Second
	// LongestLease bounds the wait for a holder that died. No lease is believed to
	// last longer, whatever is written in it.
	LongestLease = 5 * time.Minute

	fieldManager = "salve"
)

// retryPause is the time after the nth attempt that failed: what is waited for is an
// API server that restarts, and everything else waits meanwhile.
func retryPause(n int, err error) time.Duration {
	attempts := backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}
	return attempts.Pause(n, apierr.RetryAfter(err))
}

// The labels of what is kept. A person finds a run's objects by runLabel.
const (
	ownerLabel = "app.kubernetes.io/managed-by"
	ownerName  = "salve"
	runLabel   = "salve-run"
	partLabel  = "salve-part"
)

// Options say where a journal is.
type Options struct {
	Client kubernetes.Interface
	Clock  clock.Clock
	// Namespace is DefaultNamespace when empty.
	Namespace string
	// Lease is DefaultLease when zero.
	Lease time.Duration
}

// sizes are those from which a part takes no further line, and of an export's pieces.
type sizes struct{ part, chunk int }

// Journal is the backend in a cluster. It is safe for concurrent use.
type Journal struct {
	client    kubernetes.Interface
	clock     clock.Clock
	namespace string
	lease     time.Duration
	sizes     sizes

	mu    sync.Mutex
	tails map[string]*part // the last part of the records that were written here
	// firsts are the positions of the first lines of the parts of records that were
	// read or written here.
	firsts map[string][]int
	keys   map[string]journal.Key
}

var _ journal.Store = (*Journal)(nil)

// New gives the backend. It makes no call.
func New(options Options) (*Journal, error) {
	j := &Journal{
		client: options.Client, clock: options.Clock, namespace: options.Namespace, lease: options.Lease,
		sizes: sizes{part: fullAt, chunk: chunkSize},
		tails: map[string]*part{}, firsts: map[string][]int{}, keys: map[string]journal.Key{},
	}
	if j.namespace == "" {
		j.namespace = DefaultNamespace
	}
	if j.lease == 0 {
		j.lease = DefaultLease
	}
	if j.lease < ShortestLease || j.lease > LongestLease || j.lease%time.Second != 0 {
		return nil, apierr.New(apierr.Terminal, "a lease of %s: it must be whole seconds, at most %s",
			options.Lease, LongestLease)
	}
	if !namespaceName.MatchString(j.namespace) || !namespaceName.MatchString(j.exportsNamespace()) {
		return nil, apierr.New(apierr.Terminal, "%q is no name of a namespace", j.namespace)
	}
	return j, nil
}

// Where names the location, for people.
func (j *Journal) Where() string { return "namespace " + j.namespace + " of the cluster" }

// Namespace is that of the records.
func (j *Journal) Namespace() string { return j.namespace }

// Location is Where: the leases that name it are in the same cluster.
func (j *Journal) Location() string { return j.Where() }

// Exists asks for the namespace. The error is of class Missing when there is none: a list of what is in it would be
// empty.
func (j *Journal) Exists(ctx context.Context) error {
	err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
		return j.once(ctx, func(ctx context.Context) error {
			_, err := j.client.CoreV1().Namespaces().Get(ctx, j.namespace, metav1.GetOptions{})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("reading namespace %s: %w", j.namespace, err)
	}
	return nil
}

// ID tells the journal from that of every other cluster and namespace.
func (j *Journal) ID(ctx context.Context) (string, error) {
	cluster, err := (&kube.Cluster{Client: j.client, Clock: j.clock}).ID(ctx)
	return "namespace " + j.namespace + " of cluster " + cluster, err
}

// The names that Kubernetes takes: RFC 1123 labels, and short enough for a run's
// name to be a label's value and a part of an object's name.
var (
	namespaceName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	runName       = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)
)

// inNamespace makes an object, and its namespace before it when that is absent.
func (j *Journal) inNamespace(ctx context.Context, name string, create func(context.Context) error) error {
	err := j.once(ctx, create)
	if apierr.ClassOf(err) != apierr.Missing || err == nil {
		return err
	}
	namespace := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{ownerLabel: ownerName}},
	}
	err = j.once(ctx, func(ctx context.Context) error {
		_, err := j.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil && apierr.ClassOf(err) != apierr.Conflict { // one that exists already is what was wanted
		return fmt.Errorf("making namespace %q: %w", name, err)
	}
	return j.once(ctx, create)
}

// once makes a call; its error has a class.
func (j *Journal) once(ctx context.Context, call func(context.Context) error) error {
	return kube.Classify(backoff.Once(ctx, j.clock, call))
}

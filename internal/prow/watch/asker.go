package watch

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/clock"
	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/kube"
)

const (
	// soon is after how long it is asked again why a pod waits that was made just now, and later why any other does.
	soon    = 2 * time.Second
	later   = 15 * time.Second
	justNow = time.Minute
	// presenceTime is for how long it is believed that an object is there, or not.
	presenceTime = 30 * time.Second
	// maxEvents bounds the events of one pod.
	maxEvents = 50
)

// asker finds out why pods wait: by the kubelet's events about them, and by whether what these miss is where the pods
// belong.
type asker struct {
	cluster *kube.Cluster
	// home is the namespace where pods belong.
	home    string
	changed func()
	wanted  chan []cluster.Pod

	mu      sync.Mutex
	missing map[types.UID][]stray.Missing
	lack    finding.Lack

	// The rest is run's alone.
	asked    map[types.UID]time.Time
	presence map[object]presence
}

type object struct{ kind, name string }

type presence struct {
	at    time.Time
	there bool
	lack  finding.Lack
}

func newAsker(c *kube.Cluster, home string, changed func()) *asker {
	return &asker{cluster: c, home: home, changed: changed, wanted: make(chan []cluster.Pod, 1),
		asked: map[types.UID]time.Time{}, presence: map[object]presence{}}
}

// known is what was found out. It is not changed later.
func (a *asker) known() (map[types.UID][]stray.Missing, finding.Lack) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.missing, a.lack
}

// ask asks about these pods from now on.
func (a *asker) ask(pods []cluster.Pod) {
	select {
	case <-a.wanted:
	default:
	}
	a.wanted <- pods // it has room: nobody else fills it
}

func (a *asker) run(ctx context.Context) error {
	var pods []cluster.Pod
	for {
		pause := a.cluster.Clock.NewTimer(soon)
		select {
		case <-ctx.Done():
			pause.Stop()
			return context.Cause(ctx)
		case pods = <-a.wanted:
		case <-pause.C():
		}
		pause.Stop()
		a.round(ctx, pods)
	}
}

// round asks about those of the pods that are due.
func (a *asker) round(ctx context.Context, pods []cluster.Pod) {
	ctx, cancel := clock.WithTimeout(ctx, a.cluster.Clock, readTime)
	defer cancel()
	before, lack := a.known()
	now, next := a.cluster.Clock.Now(), map[types.UID][]stray.Missing{}
	var due []cluster.Pod
	for _, pod := range pods {
		if known, asked := before[pod.UID]; asked {
			next[pod.UID] = known
		}
		if a.isDue(pod, now) {
			due = append(due, pod)
		}
	}
	forget(a.asked, pods)
	if len(due) > 0 {
		answers, err := a.messages(ctx, due)
		lack = finding.Lack{}
		if err != nil {
			lack.Reason = err.Error()
		}
		for i, pod := range due {
			a.asked[pod.UID] = now
			if answers[i] != nil {
				next[pod.UID] = a.missed(ctx, answers[i])
			}
		}
	}
	if len(pods) == 0 {
		lack = finding.Lack{}
	}
	a.mu.Lock()
	otherwise := lack != a.lack || !maps.EqualFunc(next, a.missing, slices.Equal)
	a.missing, a.lack = next, lack
	a.mu.Unlock()
	if otherwise {
		a.changed()
	}
}

func forget(asked map[types.UID]time.Time, pods []cluster.Pod) {
	maps.DeleteFunc(asked, func(uid types.UID, _ time.Time) bool {
		return !slices.ContainsFunc(pods, func(pod cluster.Pod) bool { return pod.UID == uid })
	})
}

func (a *asker) isDue(pod cluster.Pod, now time.Time) bool {
	last, asked := a.asked[pod.UID]
	pause := later
	if now.Sub(pod.Created) < justNow {
		pause = soon
	}
	return !asked || now.Sub(last) >= pause
}

// messages are the texts of the events about each pod; nil for one that could not be asked about.
func (a *asker) messages(ctx context.Context, pods []cluster.Pod) ([][]string, error) {
	answers := make([][]string, len(pods))
	return answers, kube.Parallel(ctx, len(pods), func(ctx context.Context, i int) error {
		pod := pods[i]
		return a.cluster.Read(ctx, "reading the events about pod "+pod.String(), func(ctx context.Context) error {
			list, err := a.cluster.Client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
				FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(pod.UID)).String(), Limit: maxEvents,
			})
			if err != nil {
				return err
			}
			answers[i] = []string{}
			for _, event := range list.Items {
				if event.InvolvedObject.UID == pod.UID && event.Type == corev1.EventTypeWarning {
					answers[i] = append(answers[i], event.Message)
				}
			}
			return nil
		})
	})
}

// missingObject is how a kubelet says that an object is not there: a volume's, or one of an environment
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/secret/secret.go).
var missingObject = regexp.MustCompile(`\b(secret|configmap) "([a-z0-9][a-z0-9.-]{0,252})" not found`)

// missed are the objects that events miss.
func (a *asker) missed(ctx context.Context, messages []string) []stray.Missing {
	missing := []stray.Missing{}
	for _, message := range messages {
		for _, found := range missingObject.FindAllStringSubmatch(message, -1) {
			one := object{kind: map[string]string{"secret": kube.Secret, "configmap": kube.ConfigMap}[found[1]], name: found[2]}
			if slices.ContainsFunc(missing, func(m stray.Missing) bool { return m.Kind == one.kind && m.Name == one.name }) {
				continue
			}
			belongs := a.belongs(ctx, one)
			missing = append(missing, stray.Missing{
				Reference: kube.Reference{Kind: one.kind, Name: one.name, For: fmt.Sprintf("event: %.200s", message)},
				Belongs:   belongs.there, BelongsLack: belongs.lack,
			})
		}
	}
	return missing
}

// belongs tells whether an object is where the pods belong, by its metadata alone.
func (a *asker) belongs(ctx context.Context, one object) presence {
	now := a.cluster.Clock.Now()
	maps.DeleteFunc(a.presence, func(_ object, p presence) bool { return now.Sub(p.at) >= presenceTime })
	if known, fresh := a.presence[one]; fresh {
		return known
	}
	resource := map[string]string{kube.Secret: "secrets", kube.ConfigMap: "configmaps"}[one.kind]
	there, _, err := a.cluster.State(ctx, kube.Object{Namespace: a.home, Name: one.name, Resource: kube.Resource{
		GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: resource}}})
	answer := presence{at: now, there: there}
	if err != nil {
		answer.lack.Reason = err.Error()
	}
	a.presence[one] = answer
	return answer
}

package rescuepods_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/kubetest"
	"salve/internal/permit"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// counted counts the requests that the runbook makes, and its watches of pods.
type counted struct {
	next              http.RoundTripper
	requests, watches *atomic.Int64
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	if request.URL.Query().Get("watch") != "" {
		c.watches.Add(1)
	}
	return c.next.RoundTrip(request)
}

// counting makes the stage's requests be counted.
func (s *stage) counting() (requests, watches *atomic.Int64) {
	s.Helper()
	requests, watches = &atomic.Int64{}, &atomic.Int64{}
	s.wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next, requests, watches} })
	return requests, watches
}

// BenchmarkRescueOfManyPods rescues 10,000 pods of one namespace, with its journal
// in the cluster, and beside it lists the same pods barely.
func BenchmarkRescueOfManyPods(b *testing.B) {
	const pods, replaced = 10000, 1000
	for b.Loop() {
		b.StopTimer()
		s := newStage(b)
		names := make([]string, pods)
		for i := range names {
			names[i] = fmt.Sprintf("00000000-0000-0000-0000-%012d", i) // as long as Prow's are
		}
		s.many(s.astray, names)
		s.many(s.home, names[:replaced])
		home := s.uids(s.home)
		requests, _ := s.counting()
		s.inputs.Max = pods
		namespace := s.plane.Namespace(b)
		client, err := kube.JournalClient(s.world.Cluster, permit.ForJournal(configmap.Namespaces(namespace)...))
		s.must(err)
		kept, err := configmap.New(configmap.Options{Client: client, Clock: s.world.Cluster.Clock, Namespace: namespace})
		s.must(err)
		s.journal = kept

		began := time.Now()
		_, err = s.search().EachPod(b.Context(), kube.Scope{Selector: s.selector}, func() {}, func(*corev1.Pod) error {
			return nil
		})
		s.must(err)
		bare := time.Since(began)
		began = time.Now()
		if _, err := s.search().ReadState(b.Context()); err != nil {
			b.Fatal(err)
		}
		survey := time.Since(began)
		requests.Store(0)
		heap := kubetest.WatchHeap()
		b.StartTimer()
		began = time.Now()
		result := s.run()
		took := time.Since(began)
		b.StopTimer()
		peak := heap()
		s.ends(result, runbook.Remediated, "")
		s.remain(s.astray)
		if !equal(s.uids(s.home), home) {
			b.Error("pods were touched where they belong")
		}
		if b.Failed() {
			b.Fatal(s.transcript())
		}
		kb := 0
		lines, err := s.journal.Read(b.Context(), result.Run)
		s.must(err)
		for _, line := range lines {
			kb += len(line)
		}
		b.ReportMetric(took.Seconds(), "run-s")
		b.ReportMetric(pods/took.Seconds(), "pods/s")
		b.ReportMetric(survey.Seconds()/bare.Seconds(), "survey/bare-list")
		b.ReportMetric(float64(requests.Load())/pods, "requests/pod")
		b.ReportMetric(peak/(1<<20), "peak-heap-MB")
		b.ReportMetric(float64(kb)/pods, "journal-B/pod")
		b.StartTimer()
	}
}

// BenchmarkAlarmAmongManyPods lets pods strand beside 5,000 that run, and takes the
// time from the tenth to the alarm.
func BenchmarkAlarmAmongManyPods(b *testing.B) {
	const running, lost, perNode = 5000, 10, 250
	s := newStage(b)
	nodes := s.plane.Nodes(b, running/perNode, nil)
	names := make([]string, running)
	for i := range names {
		names[i] = fmt.Sprintf("runs-%04d", i)
	}
	s.placed(names, nodes)
	s.eventually("all run", func() bool {
		list, err := s.client.CoreV1().Pods(s.home).
			List(b.Context(), metav1.ListOptions{ResourceVersion: "0", FieldSelector: "status.phase=Running"})
		return err == nil && len(list.Items) == running
	})
	for b.Loop() {
		requests, watches := s.counting()
		heap := kubetest.WatchHeap()
		l := s.watch()
		l.says("5004 live pods where they belong")
		for i := range lost {
			s.pod(s.astray, fmt.Sprintf("astray-%d", i), nil)
		}
		tenth := time.Now()
		var alarm *stranded.Error
		if err := l.end(); !errors.As(err, &alarm) || len(alarm.Pods) != lost {
			b.Fatalf("it ended with %v", err)
		}
		after := time.Since(tenth)
		if after > time.Minute || watches.Load() != 1 {
			b.Errorf("the alarm came after %s, by %d watches", after, watches.Load())
		}
		b.ReportMetric(after.Seconds(), "alarm-s")
		b.ReportMetric(float64(requests.Load()), "requests")
		b.ReportMetric(float64(watches.Load()), "watches")
		b.ReportMetric(heap()/(1<<20), "peak-heap-MB")
		b.StopTimer()
		s.must(s.client.CoreV1().Pods(s.astray).DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		b.StartTimer()
	}
}

// placed makes pods at home that run on nodes, where kwok stands in for kubelet.
func (s *stage) placed(names, nodes []string) {
	s.Helper()
	var team sync.WaitGroup
	for share := range 16 {
		team.Go(func() {
			for i := share; i < len(names); i += 16 {
				pod := s.aPod(s.home, names[i])
				pod.Spec.SchedulingGates, pod.Spec.NodeName = nil, nodes[i%len(nodes)]
				if _, err := s.client.CoreV1().Pods(s.home).Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
					s.Error(err)
				}
			}
		})
	}
	team.Wait()
}

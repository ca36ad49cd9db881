package watch

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/kube"
)

// sourcesEvery is how often the configuration in the cluster is read.
const sourcesEvery = time.Minute

// sources compares the namespaces of the configuration with those that Prow's components read in the cluster.
type sources struct {
	cluster  *kube.Cluster
	instance stray.Instance
	// configMap is NAME/KEY; empty for no comparison.
	configMap string
	changed   func()

	mu    sync.Mutex
	asked bool
	last  stray.Sources
}

func (s *sources) known() stray.Sources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *sources) wasRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked || s.configMap == ""
}

func (s *sources) run(ctx context.Context) error {
	if s.configMap == "" {
		return nil
	}
	return each(ctx, s.cluster.Clock, sourcesEvery, func(ctx context.Context) {
		next, err := s.compare(ctx)
		if err != nil {
			next = stray.Sources{Lack: finding.Lack{Reason: err.Error()}}
		}
		s.mu.Lock()
		otherwise := next != s.last
		s.asked, s.last = true, next
		s.mu.Unlock()
		if otherwise {
			s.changed()
		}
	})
}

// compare is zero where both name the same namespaces.
func (s *sources) compare(ctx context.Context) (differ stray.Sources, _ error) {
	name, key, _ := strings.Cut(s.configMap, "/")
	where := fmt.Sprintf("key %s of ConfigMap %s/%s", key, s.instance.ProwJobs, name)
	var found *corev1.ConfigMap
	err := s.cluster.Read(ctx, "reading "+where, func(ctx context.Context) (err error) {
		found, err = s.cluster.Client.CoreV1().ConfigMaps(s.instance.ProwJobs).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return differ, err
	}
	text, there := found.Data[key]
	if !there {
		return differ, fmt.Errorf("not found: %s", where)
	}
	var read struct {
		ProwJobs string `json:"prowjob_namespace"`
		Pods     string `json:"pod_namespace"`
	}
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		return differ, fmt.Errorf("reading %s: %w", where, err)
	}
	for _, field := range []struct{ name, ours, theirs string }{
		{"prowjob_namespace", s.instance.ProwJobs, read.ProwJobs}, {"pod_namespace", s.instance.Pods, read.Pods},
	} {
		if field.theirs == "" {
			field.theirs = metav1.NamespaceDefault
		}
		if field.ours != field.theirs {
			differ.Differs = true
			differ.Reason = fmt.Sprintf("%s is %s in the configuration and %.63s in %s", field.name, field.ours, field.theirs,
				where)
			return differ, nil
		}
	}
	return differ, nil
}

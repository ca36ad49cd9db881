package protector

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/kube"
)

// RecordName is the ConfigMap that says which configuration was applied last.
const RecordName = "salve-branch-protection"

// Applied is which configuration was applied to a GitHub, or begun to be.
type Applied struct {
	// Host is the GitHub's.
	Host string `json:"github"`
	// Revision is that of the configuration, Digest that of the files that were read.
	Revision string `json:"revision"`
	Digest   string `json:"digest"`
	// Time is when, by the clock of the machine that ran; Run is the run.
	Time string `json:"time,omitempty"`
	Run  string `json:"run,omitempty"`
}

// Same tells whether two are of one configuration.
func (a Applied) Same(other Applied) bool {
	return a.Host == other.Host && a.Revision == other.Revision && a.Digest == other.Digest
}

func (a Applied) data() (map[string]string, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var data map[string]string
	return data, json.Unmarshal(raw, &data)
}

// Applied reads the record; nil when there is none in a namespace that is there.
func (r *Reader) Applied(ctx context.Context) (*Applied, error) {
	found, err := r.record(ctx)
	if err != nil || found == nil {
		return nil, err
	}
	applied := &Applied{
		Host: found.Data["github"], Revision: found.Data["revision"], Digest: found.Data["digest"],
		Time: found.Data["time"], Run: found.Data["run"],
	}
	if applied.Host == "" || applied.Revision == "" || applied.Digest == "" {
		return nil, apierr.New(apierr.Terminal, "ConfigMap %s/%s is not a record of what was applied: %d of its fields are "+
			"there", r.Namespace, RecordName, len(found.Data))
	}
	return applied, nil
}

func (r *Reader) record(ctx context.Context) (found *corev1.ConfigMap, _ error) {
	absent := false
	err := r.Cluster.Read(ctx, "reading which configuration was applied last", func(ctx context.Context) (err error) {
		found, err = r.Cluster.Client.CoreV1().ConfigMaps(r.Namespace).Get(ctx, RecordName, metav1.GetOptions{})
		if absent = apierrors.IsNotFound(err) && kube.IsNotFound(kube.Classify(err)); !absent {
			return err
		}
		_, err = r.Cluster.Client.CoreV1().Namespaces().Get(ctx, r.Namespace, metav1.GetOptions{})
		return err
	})
	switch {
	case kube.IsNotFound(err):
		return nil, fmt.Errorf("%w. hint: kubectl create namespace %s (deploy/repair-branch-protection-role.yaml), or "+
			"--record-namespace", err, r.Namespace)
	case err != nil, absent:
		return nil, err
	case found.Name != RecordName || found.Namespace != r.Namespace:
		return nil, apierr.New(apierr.Transient, "unexpected object: asked for ConfigMap %s/%s, got %q/%q", r.Namespace,
			RecordName, found.Namespace, found.Name)
	}
	return found, nil
}

// Record writes which configuration is applied from now on. Who wrote it meanwhile is not overwritten.
func (r *Reader) Record(ctx context.Context, applied Applied, now time.Time) error {
	found, err := r.record(ctx)
	if err != nil {
		return err
	}
	applied.Time = now.UTC().Format(time.RFC3339)
	data, err := applied.data()
	if err != nil {
		return err
	}
	records := r.Cluster.Client.CoreV1().ConfigMaps(r.Namespace)
	defer r.applied.forget()
	return backoff.Once(ctx, r.Cluster.Clock, func(ctx context.Context) error {
		if found == nil {
			_, err = records.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{
					Name: RecordName, Namespace: r.Namespace, Labels: map[string]string{"app.kubernetes.io/managed-by": "salve"},
				},
				Data: data,
			}, metav1.CreateOptions{})
			return kube.Classify(err)
		}
		changed := found.DeepCopy() // with its resourceVersion
		changed.Data = merged(found.Data, data)
		_, err = records.Update(ctx, changed, metav1.UpdateOptions{})
		return kube.Classify(err)
	})
}

func merged(there, ours map[string]string) map[string]string {
	all := maps.Clone(there)
	maps.Copy(all, ours)
	return all
}

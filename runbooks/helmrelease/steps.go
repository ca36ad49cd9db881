package helmrelease

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"salve/internal/helm"
	"salve/kube"
	"salve/runbook"
)

// fieldManager owns the labels and annotations of namespaces that the run applies.
const fieldManager = "salve"

// applyNamespaces makes the namespaces: Helm's own making of them knows no labels.
func (r *release) applyNamespaces() runbook.Step {
	wanted := r.order.namespaces(r.Namespace)
	names := make([]string, len(wanted))
	for i, one := range wanted {
		names[i] = one.Name
	}
	return runbook.Step{
		Name: "apply-namespaces", Changes: "the namespaces that the release needs, their labels and annotations",
		Guards: []string{"cluster-reachable", "nothing-pending", "chart-renders"}, Irreversible: true,
		Inputs: func(runbook.Run) (any, error) { return map[string]any{"namespaces": names}, nil },
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			for _, one := range wanted {
				why, err := r.lacking(ctx, one)
				switch {
				case err != nil:
					return runbook.NotObserved(r.order.maskError(err))
				case why != "":
					return runbook.NotStarted("%s", why).Partially()
				}
			}
			return runbook.Done("the namespaces are there")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			for _, one := range wanted {
				config := applycorev1.Namespace(one.Name).WithLabels(one.Labels).WithAnnotations(one.Annotations)
				_, err := r.Kubernetes.Client.CoreV1().Namespaces().Apply(ctx, config,
					metav1.ApplyOptions{FieldManager: fieldManager})
				if err != nil {
					return r.order.maskError(kube.Classify(err))
				}
			}
			return nil
		},
	}
}

// lacking says what a namespace lacks; empty when it lacks nothing.
func (r *release) lacking(ctx context.Context, wanted corev1.Namespace) (why string, err error) {
	err = r.Kubernetes.Read(ctx, "reading namespace "+wanted.Name, func(ctx context.Context) error {
		there, err := r.Kubernetes.Client.CoreV1().Namespaces().Get(ctx, wanted.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			why = "there is no namespace " + wanted.Name
			return nil
		}
		if err != nil {
			return err
		}
		if !holds(there.Labels, wanted.Labels) || !holds(there.Annotations, wanted.Annotations) {
			why = "namespace " + wanted.Name + " lacks labels or annotations"
		}
		return nil
	})
	return why, err
}

func holds(there, wanted map[string]string) bool {
	for name, value := range wanted {
		if held, ok := there[name]; !ok || held != value {
			return false
		}
	}
	return true
}

// applyRelease installs or upgrades. It is past return once it was begun: what Helm takes back, it takes back within
// this step.
func (r *release) applyRelease() runbook.Step {
	return runbook.Step{
		Name: "apply-release", Changes: "Helm release " + r.Release + " in namespace " + r.Namespace,
		Guards:      []string{"cluster-reachable", "nothing-pending", "chart-unmoved", "chart-renders"},
		PermitLasts: r.order.permitLasts(), Irreversible: true,
		Inputs: func(runbook.Run) (any, error) {
			inputs := map[string]any{
				"chart": r.order.Chart.Name, "version": r.order.Chart.Version, "digest": r.order.Chart.Digest(),
				"rollbackOnFailure": r.order.Rollback,
			}
			if from := r.order.Origin; from.Reference != "" {
				inputs["reference"], inputs["manifest"] = from.Reference, from.Digest
			}
			return inputs, nil
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			there, err := r.readStanding(ctx, run)
			if err != nil {
				return runbook.NotObserved(err)
			}
			return there.observed()
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			if err := r.pin(ctx, run); err != nil {
				return err
			}
			run.Report(runbook.Progress{Text: "applying chart " + r.order.Chart.Name + " and waiting until it is ready"})
			return r.order.maskError(r.helm.Apply(ctx, r.helmOrder(run)))
		},
	}
}

// observed tells how far the release is. A revision of another run is no answer, whatever it holds: somebody may have
// changed its objects since, and an upgrade mends that.
func (s standing) observed() runbook.Observation {
	switch {
	case !s.Found:
		return runbook.NotStarted("there is no such release")
	case !s.ours() && s.Tried:
		return runbook.NotStarted("what this run made was replaced by revision %d, %s: %s", s.Revision, s.Status, s.Says).
			Partially()
	case !s.ours():
		return runbook.NotStarted("revision %d is %s, made by %s", s.Revision, s.Status, s.starter())
	case s.Pending:
		return runbook.NotStarted("revision %d was left %s by this run's process, which is gone", s.Revision, s.Status).
			Partially()
	case !s.SameContent:
		return runbook.NotStarted("revision %d has another chart or other values", s.Revision).Partially()
	case s.Status == helm.Deployed:
		return runbook.Done("revision %d is deployed", s.Revision)
	}
	return runbook.NotStarted("revision %d is %s: %s", s.Revision, s.Status, s.Says).Partially()
}

package cleanup

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"salve/kube"
	"salve/runbook"
)

// remembered is a run that recalls the same whatever it is asked for.
type remembered[T any] struct {
	runbook.Run
	value T
}

func (r remembered[T]) Recall(_ string, into any) (bool, error) {
	*into.(*T) = r.value
	return true, nil
}

// TestRecalledReplicas: a workload gets back what an operator can have had, and nobody else's workload does.
func TestRecalledReplicas(t *testing.T) {
	zero := int32(0)
	client := fake.NewClientset(
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "operator", Namespace: "operator-system", UID: "own"},
			Spec: appsv1.DeploymentSpec{Replicas: &zero}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "prod", UID: "others"},
			Spec: appsv1.DeploymentSpec{Replicas: &zero}},
	)
	o := &Operator{Cluster: &kube.Cluster{Client: client, Clock: clock.RealClock{}}, Namespace: "operator-system"}
	for had, refused := range map[int32]bool{1: false, mostReplicas: false, mostReplicas + 1: true, 0: true, -3: true} {
		run := remembered[map[types.UID]int32]{value: map[types.UID]int32{"own": had, "others": 5}}
		stopped, err := o.stoppedBy(t.Context(), run)
		var foreign *ForeignError
		if errors.As(err, &foreign) != refused {
			t.Errorf("%d replicas: %v", had, err)
		}
		if !refused && (len(stopped) != 1 || stopped[0].Name != "operator" || stopped[0].had != had) {
			t.Errorf("%d replicas: %+v", had, stopped)
		}
	}
}

// TestRecalledConversions: a CRD gets no conversion from a record that calls anybody but the operator.
func TestRecalledConversions(t *testing.T) {
	calls := func(clientConfig map[string]any) map[string]any {
		return map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": clientConfig}}
	}
	o := &Operator{Group: "example.io", Namespace: "operator-system"}
	for name, how := range map[string]map[string]any{
		"another namespace": calls(map[string]any{"service": map[string]any{"namespace": "evil", "name": "x"}}),
		"an address":        calls(map[string]any{"url": "https://evil.example/"}),
		"no webhook":        {"strategy": "Webhook"},
		"another strategy":  {"strategy": "None"},
	} {
		_, _, err := o.droppedBy(t.Context(),
			remembered[map[types.UID]map[string]any]{value: map[types.UID]map[string]any{"1": how}})
		var foreign *ForeignError
		if !errors.As(err, &foreign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

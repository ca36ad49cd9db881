package chart_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestChartIsAppliedToARealControlPlane: each object of each release is admitted, and so is the pod that its workload
// would make.
func TestChartIsAppliedToARealControlPlane(t *testing.T) {
	plane := newPlane(t)
	for name := range releases {
		t.Run(name, func(t *testing.T) {
			for _, object := range objects(t, name) {
				plane.dryRun(t, object)
				if object.GetKind() == "Namespace" {
					plane.apply(t, object) // what lies in it is asked about next
				}
				if pod := podOf(t, object); pod != nil {
					if err := plane.admit(t, pod); err != nil {
						t.Errorf("the pod of %s %s: %v", object.GetKind(), object.GetName(), err)
					}
				}
			}
			plane.install(t, release(name))
		})
	}
}

// TestPodIsLockedUp: each thing that the chart asks for is asked for because Pod Security would refuse the pod without.
func TestPodIsLockedUp(t *testing.T) {
	plane := newPlane(t)
	for name, at := range map[string]string{
		"runAsNonRoot": "pod", "seccompProfile": "pod", "allowPrivilegeEscalation": "container", "capabilities": "container",
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(t, theJob(t))
			spec := pod.Object["spec"].(map[string]any)
			holder := spec
			if at == "container" {
				holder = containerOf(spec)
			}
			delete(holder["securityContext"].(map[string]any), name)
			if err := plane.admit(t, pod); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("admitted, or refused for another reason: %v", err)
			}
		})
	}
}

// TestRootOfTheFileSystemIsReadOnly, and the user is nobody's.
func TestRootOfTheFileSystemIsReadOnly(t *testing.T) {
	spec := podOf(t, theJob(t)).Object["spec"].(map[string]any)
	if containerOf(spec)["securityContext"].(map[string]any)["readOnlyRootFilesystem"] != true {
		t.Error("it can be written to")
	}
	if user := spec["securityContext"].(map[string]any)["runAsUser"]; fmt.Sprint(user) != "65532" {
		t.Errorf("the user is %v", user)
	}
}

// TestServiceAccountGetsNoMoreThanItsRoles asks the API server what the service account of a run may do.
func TestServiceAccountGetsNoMoreThanItsRoles(t *testing.T) {
	plane := newPlane(t)
	plane.install(t, release("job"))
	for _, may := range []string{
		"delete pods in anywhere", "list pods", "get secrets/token in anywhere", "list prowjobs.prow.k8s.io",
		"create configmaps in salve-system", "patch configmaps in salve-system",
		"update leases.coordination.k8s.io in salve-system",
		"get secrets/journal-key-rescue-stranded-pods in salve-system", "create secrets in salve-system-exports",
	} {
		// The authorizer follows the roles by a watch.
		err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return plane.may(t, may), nil })
		if err != nil {
			t.Errorf("may not %s", may)
		}
	}
	for _, mayNot := range []string{
		"create pods in anywhere", "patch pods in anywhere", "list secrets", "delete configmaps in salve-system",
		"create configmaps in anywhere", "create secrets in salve-system", "update leases.coordination.k8s.io in anywhere",
		"delete secrets in salve-system-exports", "delete nodes", "impersonate users", "create jobs.batch in salve",
		"create serviceaccounts/salve in salve", "escalate clusterroles.rbac.authorization.k8s.io",
	} {
		if plane.may(t, mayNot) {
			t.Errorf("may %s", mayNot)
		}
	}
}

// TestEventsAndApprovalsAreRightsOfTheirOwn: the service account gets them where they are asked for, and only there.
func TestEventsAndApprovalsAreRightsOfTheirOwn(t *testing.T) {
	plane := newPlane(t)
	for name, has := range map[string]bool{"cronjob": true, "job": false} {
		t.Run(name, func(t *testing.T) {
			plane.install(t, release(name))
			for _, right := range []string{
				"create events in salve-system", "list certificatesigningrequests.certificates.k8s.io",
				"create subjectaccessreviews.authorization.k8s.io",
			} {
				err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true,
					func(context.Context) (bool, error) { return plane.may(t, right) == has, nil })
				if err != nil {
					t.Errorf("%s: want %v", right, has)
				}
			}
			for _, never := range []string{"approve runs.salve.internal in salve-system",
				"create certificatesigningrequests.certificates.k8s.io"} {
				if plane.may(t, never) {
					t.Errorf("may %s", never)
				}
			}
		})
	}
}

// TestEventsAreToldWhereTheyMayBe: the flag stands where the right is bound.
func TestEventsAreToldWhereTheyMayBe(t *testing.T) {
	for name, want := range map[string]bool{"cronjob": true, "job": false, "watch": false} {
		told := false
		for _, object := range objects(t, name) {
			if pod := podOf(t, object); pod != nil {
				arguments := containerOf(pod.Object["spec"].(map[string]any))["args"].([]any)
				told = slices.Contains(arguments, any("--kubernetes-events"))
			}
		}
		if told != want {
			t.Errorf("%s: --kubernetes-events: %v", name, told)
		}
	}
}

// theJob is the Job of the release of that name.
func theJob(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects(t, "job") {
		if object.GetKind() == "Job" {
			return object
		}
	}
	t.Fatal("the release has no Job")
	return nil
}

// podOf is the pod that a workload would make; nil where the object is none. The service account that it names is not
// there yet: the default one takes its place.
func podOf(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	var at []string
	switch object.GetKind() {
	case "Job", "Deployment":
		at = []string{"spec", "template"}
	case "CronJob":
		at = []string{"spec", "jobTemplate", "spec", "template"}
	default:
		return nil
	}
	template, found, err := unstructured.NestedMap(object.Object, at...)
	if err != nil || !found {
		t.Fatalf("%s has no template: %v", object.GetKind(), err)
	}
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName("salve-0")
	pod.SetNamespace(object.GetNamespace())
	unstructured.RemoveNestedField(pod.Object, "spec", "serviceAccountName")
	return pod
}

func containerOf(spec map[string]any) map[string]any {
	return spec["containers"].([]any)[0].(map[string]any)
}

// TestKubernetesTakesTheSchedulesThatTheChartTakes, and no other.
func TestKubernetesTakesTheSchedulesThatTheChartTakes(t *testing.T) {
	plane := newPlane(t)
	for schedule, says := range schedules {
		t.Run(schedule, func(t *testing.T) {
			for _, object := range objects(t, "cronjob") {
				if object.GetKind() != "CronJob" {
					continue
				}
				object.SetName("scheduled")
				if err := unstructured.SetNestedField(object.Object, schedule, "spec", "schedule"); err != nil {
					t.Fatal(err)
				}
				if err := plane.admit(t, object); (err == nil) != (says == "") {
					t.Errorf("the chart says %q, the API server %v", says, err)
				}
			}
		})
	}
}

package protector

import (
	"cmp"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
)

// pageSize is how many objects are listed at a time.
const pageSize = 500

// prowJobs is the resource of Prow's jobs
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/apis/prowjobs/v1/types.go).
func prowJobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
}

// Run is one of a branchprotector that is not over.
type Run struct {
	// What names the object, such as "Job prow/branchprotector-1", and Image is what it runs.
	What, Image string
	// Passed is why it doesn't count as a run of this Prow's in progress; empty where it does.
	Passed string
}

func (r Run) String() string { return fmt.Sprintf("%s (%s)", r.What, r.Image) }

// neverEnding is how old a Job without a pod is that never ended, where it has no deadline of its own. Kubernetes makes
// the pod of a Job within seconds: what has none for hours is left over. Clocks of machines differ by much less.
const neverEnding = 6 * time.Hour

// active are the runs that are not over: pods of whatever made them, Jobs that may still make one, and ProwJobs,
// whose pods may be in another cluster.
func (r *Reader) active(ctx context.Context) ([]Run, error) {
	pods, owners, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := r.jobs(ctx, owners)
	if err != nil {
		return nil, err
	}
	prow, err := r.prowJobs(ctx)
	if err != nil {
		return nil, err
	}
	return append(append(prow, jobs...), pods...), nil
}

// pods are those that have not terminated, with the UIDs of all that own one.
func (r *Reader) pods(ctx context.Context) (found []Run, owners map[types.UID]bool, _ error) {
	options := metav1.ListOptions{
		Limit: pageSize, FieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
	}
	err := kube.RetryExpired(func() error {
		found, owners = nil, map[types.UID]bool{}
		return kube.ListPages(ctx, r.Cluster, "listing pods that have not terminated", options,
			func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
				return r.Cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
			},
			func(page *corev1.PodList) error {
				for _, pod := range page.Items {
					over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
					if over {
						continue
					}
					for _, owner := range pod.OwnerReferences {
						owners[owner.UID] = true
					}
					if image, is := Image(pod.Spec.Containers); is {
						found = append(found, Run{"pod " + pod.Namespace + "/" + pod.Name, image,
							r.others(ctx, pod.Namespace, pod.Spec)})
					}
				}
				return nil
			})
	})
	return found, owners, err
}

func (r *Reader) jobs(ctx context.Context, owners map[types.UID]bool) (found []Run, _ error) {
	err := kube.RetryExpired(func() error {
		found = nil
		return kube.ListPages(ctx, r.Cluster, "listing Jobs", metav1.ListOptions{Limit: pageSize},
			func(ctx context.Context, options metav1.ListOptions) (*batchv1.JobList, error) {
				return r.Cluster.Client.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, options)
			},
			func(page *batchv1.JobList) error {
				for _, job := range page.Items {
					if image, is := Image(job.Spec.Template.Spec.Containers); is && !over(job) {
						passed := cmp.Or(r.others(ctx, job.Namespace, job.Spec.Template.Spec),
							leftOver(job, owners[job.UID], r.Cluster.Clock.Now()))
						found = append(found, Run{"Job " + job.Namespace + "/" + job.Name, image, passed})
					}
				}
				return nil
			})
	})
	return found, err
}

// over tells whether a Job makes no pod any more. One that is suspended makes none until somebody resumes it.
func over(job batchv1.Job) bool {
	for _, condition := range job.Status.Conditions {
		ended := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if ended && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return job.Spec.Suspend != nil && *job.Spec.Suspend && job.Status.Active == 0
}

// leftOver says that a Job which has not ended is no run in progress for ever; empty where it may be one. Whose age is
// not known may be young.
func leftOver(job batchv1.Job, hasPod bool, now time.Time) string {
	made := job.CreationTimestamp.Time
	limit := neverEnding
	if deadline := job.Spec.ActiveDeadlineSeconds; deadline != nil {
		limit = max(time.Hour, time.Duration(*deadline)*time.Second)
	}
	if hasPod || job.Status.Active > 0 || made.IsZero() || now.Sub(made) <= limit {
		return ""
	}
	return fmt.Sprintf("made at %s, never ended, and without a pod: left over, delete it", made.UTC().Format(time.RFC3339))
}

func (r *Reader) prowJobs(ctx context.Context) (found []Run, _ error) {
	list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		page, err := r.Cluster.Dynamic.Resource(prowJobs()).Namespace(r.ProwJobs).List(ctx, options)
		return page, r.Cluster.ConfirmNotServed(ctx, prowJobs(), err)
	}
	err := kube.RetryExpired(func() error {
		found = nil
		return kube.ListPages(ctx, r.Cluster, "listing ProwJobs", metav1.ListOptions{Limit: pageSize}, list,
			func(page *unstructured.UnstructuredList) error {
				for i := range page.Items {
					run, is, err := unfinished(&page.Items[i])
					if err != nil {
						return err
					}
					if is {
						found = append(found, run)
					}
				}
				return nil
			})
	})
	if kube.IsNotFound(err) {
		err = apierr.New(apierr.Terminal, "this cluster serves no ProwJobs: it is not that of a Prow instance. "+
			"hint: --kubeconfig FILE --context NAME: %w", err)
	}
	return found, err
}

// unfinished is the run of a ProwJob that runs a branchprotector and is not complete; false for any other. It is
// complete when it says since when, and not before.
func unfinished(job *unstructured.Unstructured) (run Run, is bool, _ error) {
	if completed, _, _ := unstructured.NestedString(job.Object, "status", "completionTime"); completed != "" {
		return Run{}, false, nil
	}
	raw, found, err := unstructured.NestedMap(job.Object, "spec", "pod_spec")
	if err != nil || !found {
		return Run{}, false, nil // another agent's, which has no pod
	}
	var pod corev1.PodSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &pod); err != nil {
		return Run{}, false, apierr.New(apierr.Terminal, "ProwJob %s/%s: its pod can't be read: %w", job.GetNamespace(),
			job.GetName(), err)
	}
	image, is := Image(pod.Containers)
	if !is {
		return Run{}, false, nil
	}
	name, _, _ := unstructured.NestedString(job.Object, "spec", "job")
	return Run{What: fmt.Sprintf("ProwJob %s/%s of job %q", job.GetNamespace(), job.GetName(), name), Image: image}, true,
		nil
}

package protector

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
}

func (r Run) String() string { return fmt.Sprintf("%s (%s)", r.What, r.Image) }

// active are the runs that are not over: pods of whatever made them, Jobs that may still make one, and ProwJobs,
// whose pods may be in another cluster.
func (r *Reader) active(ctx context.Context) ([]Run, error) {
	pods, err := r.pods(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := r.jobs(ctx)
	if err != nil {
		return nil, err
	}
	prow, err := r.prowJobs(ctx)
	if err != nil {
		return nil, err
	}
	return append(append(prow, jobs...), pods...), nil
}

func (r *Reader) pods(ctx context.Context) (found []Run, _ error) {
	options := metav1.ListOptions{
		Limit: pageSize, FieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
	}
	err := kube.RetryExpired(func() error {
		found = nil
		return kube.ListPages(ctx, r.Cluster, "listing pods that have not terminated", options,
			func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
				return r.Cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
			},
			func(page *corev1.PodList) error {
				for _, pod := range page.Items {
					over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
					if image, is := Image(pod.Spec.Containers); is && !over {
						found = append(found, Run{"pod " + pod.Namespace + "/" + pod.Name, image})
					}
				}
				return nil
			})
	})
	return found, err
}

func (r *Reader) jobs(ctx context.Context) (found []Run, _ error) {
	err := kube.RetryExpired(func() error {
		found = nil
		return kube.ListPages(ctx, r.Cluster, "listing Jobs", metav1.ListOptions{Limit: pageSize},
			func(ctx context.Context, options metav1.ListOptions) (*batchv1.JobList, error) {
				return r.Cluster.Client.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, options)
			},
			func(page *batchv1.JobList) error {
				for _, job := range page.Items {
					if image, is := Image(job.Spec.Template.Spec.Containers); is && !over(job) {
						found = append(found, Run{"Job " + job.Namespace + "/" + job.Name, image})
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
	return Run{fmt.Sprintf("ProwJob %s/%s of job %q", job.GetNamespace(), job.GetName(), name), image}, true, nil
}

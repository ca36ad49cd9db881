package protector

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
)

// deployed are the cluster's CronJobs that run a branchprotector, with their images; those of other Prows left out.
func (r *Reader) deployed(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	err := kube.RetryExpired(func() error {
		clear(found)
		return kube.ListPages(ctx, r.Cluster, "listing CronJobs", metav1.ListOptions{Limit: pageSize},
			func(ctx context.Context, options metav1.ListOptions) (*batchv1.CronJobList, error) {
				return r.Cluster.Client.BatchV1().CronJobs(metav1.NamespaceAll).List(ctx, options)
			},
			func(page *batchv1.CronJobList) error {
				for _, job := range page.Items {
					pod := job.Spec.JobTemplate.Spec.Template.Spec
					if image, is := Image(pod.Containers); is && r.others(ctx, job.Namespace, pod) == "" {
						found[nameOf(job.Namespace, job.Name)] = image
					}
				}
				return nil
			})
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func nameOf(namespace, name string) string {
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return "CronJob " + namespace + "/" + name
}

package instance

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
)

// Mounts are what kubelets say that strays lack, by the pod's UID: objects such as "Secret service-account".
type Mounts map[types.UID][]kube.Reference

// missing is how a kubelet says that a pod needs what is not there
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/util/operationexecutor/operation_generator.go).
func missing() *regexp.Regexp { return regexp.MustCompile(`\b(secret|configmap) "([^"]+)" not found`) }

// Mounts reads the events of some pods that say that a mount failed. An event is kept for an hour after it last
// happened: where there is none, nothing follows.
func (i *Instance) Mounts(ctx context.Context, pods map[types.UID]string) (Mounts, error) {
	var namespaces []string
	for _, namespace := range pods {
		if !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	found := Mounts{}
	for _, namespace := range namespaces {
		options := kube.Scope{}.Options()
		options.FieldSelector = "reason=FailedMount"
		list := func(ctx context.Context, options metav1.ListOptions) (*corev1.EventList, error) {
			return i.Client.CoreV1().Events(namespace).List(ctx, options)
		}
		err := kube.RetryExpired(func() error {
			return kube.ListPages(ctx, i.Cluster, "listing the events of namespace "+namespace, options, list,
				func(page *corev1.EventList) error {
					for _, event := range page.Items {
						if _, asked := pods[event.InvolvedObject.UID]; asked {
							found.add(event.InvolvedObject.UID, event.Message)
						}
					}
					return nil
				})
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// add takes what a message names.
func (m Mounts) add(pod types.UID, message string) {
	for _, match := range missing().FindAllStringSubmatch(message, -1) {
		named := kube.Reference{Kind: kube.Secret, Name: match[2]}
		if match[1] == "configmap" {
			named.Kind = kube.ConfigMap
		}
		if !slices.Contains(m[pod], named) {
			m[pod] = append(m[pod], named)
		}
	}
}

// Lacks is a named object that a pod lacks and that is where the pod belongs.
func Lacks(need kube.Reference, home string) string {
	return fmt.Sprintf("%s %s, which is in %s", need.Kind, need.Name, home)
}

package live

import (
	"context"
	"fmt"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/kube"
)

// maximumNamespaces bounds how many access reviews are asked for.
const maximumNamespaces = 2_000

// Question is what to ask of a cluster.
type Question struct {
	// Cluster is its alias in the configuration.
	Cluster string
	// User is plank's identity there; empty where it isn't known.
	User string
	// PodNamespace is where pods go; it is always reviewed.
	PodNamespace string
	Objects      []check.Object
}

// Ask asks a cluster. What has no answer says so in the result.
func Ask(ctx context.Context, cluster *kube.Cluster, question Question) *check.Live {
	live := &check.Live{Cluster: question.Cluster, User: question.User, Reviews: map[string]check.Review{},
		Objects: map[check.Object]check.Presence{}}
	if question.User != "" {
		live.Everywhere = review(ctx, cluster, question.User, "")
		if !live.Everywhere.Allowed {
			reviews(ctx, cluster, question, live)
		}
	}
	var lock sync.Mutex
	err := kube.Parallel(ctx, len(question.Objects), func(ctx context.Context, i int) error {
		presence := presenceOf(ctx, cluster, question.PodNamespace, question.Objects[i])
		lock.Lock()
		defer lock.Unlock()
		live.Objects[question.Objects[i]] = presence
		return nil
	})
	if err != nil {
		live.Failed = err.Error()
	}
	return live
}

// reviews asks for each namespace of the cluster.
func reviews(ctx context.Context, cluster *kube.Cluster, question Question, live *check.Live) {
	namespaces := []string{question.PodNamespace}
	err := kube.ListPages(ctx, cluster, "listing namespaces", metav1.ListOptions{},
		func(ctx context.Context, options metav1.ListOptions) (*corev1.NamespaceList, error) {
			return cluster.Client.CoreV1().Namespaces().List(ctx, options)
		}, func(page *corev1.NamespaceList) error {
			for _, namespace := range page.Items {
				if namespace.Name != question.PodNamespace {
					namespaces = append(namespaces, namespace.Name)
				}
			}
			if len(namespaces) > maximumNamespaces {
				return fmt.Errorf("more than %d namespaces", maximumNamespaces)
			}
			return nil
		})
	if err != nil {
		live.Everywhere.Failed = err.Error()
		namespaces = namespaces[:1]
	}
	var lock sync.Mutex
	err = kube.Parallel(ctx, len(namespaces), func(ctx context.Context, i int) error {
		answer := review(ctx, cluster, question.User, namespaces[i])
		lock.Lock()
		defer lock.Unlock()
		live.Reviews[namespaces[i]] = answer
		return nil
	})
	if err != nil {
		live.Failed = err.Error()
	}
}

// review asks whether a user may create pods in a namespace; an empty one stands for all.
func review(ctx context.Context, cluster *kube.Cluster, user, namespace string) check.Review {
	asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: groupsOf(user),
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Resource: "pods"},
	}}
	var answer *authorizationv1.SubjectAccessReview
	err := cluster.Read(ctx, "asking what "+user+" may do", func(ctx context.Context) (err error) {
		answer, err = cluster.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{})
		return err
	})
	switch {
	case err != nil:
		return check.Review{Failed: err.Error()}
	case !answer.Status.Allowed && answer.Status.EvaluationError != "":
		return check.Review{Failed: answer.Status.EvaluationError}
	}
	return check.Review{Allowed: answer.Status.Allowed}
}

// presenceOf tells whether an object is there, by its metadata alone.
func presenceOf(ctx context.Context, cluster *kube.Cluster, namespace string, object check.Object) check.Presence {
	resource := map[config.ObjectKind]string{config.Secret: "secrets", config.ConfigMap: "configmaps",
		config.ServiceAccount: "serviceaccounts"}[object.Kind]
	if resource == "" {
		return check.Presence{Failed: fmt.Sprintf("kind %s is not asked for", object.Kind)}
	}
	there, _, err := cluster.State(ctx, kube.Object{Namespace: namespace, Name: object.Name,
		Resource: kube.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: resource}}})
	if err != nil {
		return check.Presence{Failed: err.Error()}
	}
	return check.Presence{There: there}
}

// groupsOf are the groups that the API server puts a service account into
// (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/):
// rights may be granted to them.
func groupsOf(user string) []string {
	groups := []string{"system:authenticated"}
	if namespace, _, ok := strings.Cut(strings.TrimPrefix(user, serviceAccount), ":"); ok &&
		strings.HasPrefix(user, serviceAccount) {
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return groups
}

const serviceAccount = "system:serviceaccount:"

// UserOf is the name of a service account as the API server knows it.
func UserOf(namespace, name string) string { return serviceAccount + namespace + ":" + name }

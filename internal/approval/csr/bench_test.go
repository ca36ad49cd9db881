package csr_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"salve/engine"
	"salve/internal/approval/csr"
	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/journal"
)

// bench is a cluster with a journal's namespace, an approver and a runner, by the roles of deploy/.
type bench struct {
	testing.TB
	plane     *kubetest.ControlPlane
	namespace string
}

func newBench(t testing.TB) *bench {
	b := &bench{TB: t, plane: kubetest.Start(t)}
	b.namespace = b.plane.Namespace(t)
	b.apply("approver-role.yaml")
	b.bind("salve-approver", "alice", true)
	b.bind("salve-approver", "bob", true)
	b.bind("salve-approver-requests", "alice", false)
	b.bind("salve-approver-requests", "bob", false)
	b.bind("salve-approver-requests", "mallory", false) // she may make requests, and may not approve
	b.bind("salve-approval-runner", "bob", false)
	return b
}

// apply creates the roles of a file of deploy/.
func (b *bench) apply(file string) {
	b.Helper()
	for _, document := range strings.Split(readFile(b, filepath.Join("../../../deploy", file)), "\n---\n") {
		var role rbacv1.ClusterRole
		b.must(yaml.UnmarshalStrict([]byte(document), &role))
		_, err := b.plane.Client().RbacV1().ClusterRoles().Create(context.Background(), &role, metav1.CreateOptions{})
		b.must(err)
		b.Cleanup(func() {
			b.must(b.plane.Client().RbacV1().ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{}))
		})
	}
}

// bind gives a user a role, in the journal's namespace alone or in the cluster, and waits until it counts.
func (b *bench) bind(role, user string, inNamespace bool) {
	b.Helper()
	meta := metav1.ObjectMeta{GenerateName: "test-", Namespace: ""}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	ctx, rbac := context.Background(), b.plane.Client().RbacV1()
	if inNamespace {
		_, err := rbac.RoleBindings(b.namespace).Create(ctx,
			&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		b.must(err)
		b.awaitRight(role, user, b.namespace)
		return
	}
	made, err := rbac.ClusterRoleBindings().Create(ctx,
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	b.must(err)
	b.Cleanup(func() { b.must(rbac.ClusterRoleBindings().Delete(ctx, made.Name, metav1.DeleteOptions{})) })
	b.awaitRight(role, user, "")
}

// awaitRight waits until a user has the first right of a role: the authorizer learns of it by a watch.
func (b *bench) awaitRight(name, user, namespace string) {
	b.Helper()
	role, err := b.plane.Client().RbacV1().ClusterRoles().Get(context.Background(), name, metav1.GetOptions{})
	b.must(err)
	rule := role.Rules[0]
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0],
		},
	}}
	b.must(wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			answer, err := b.plane.Client().AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		}))
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) client(user string) kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", b.plane.KubeconfigOf(b, user))
	b.must(err)
	client, err := kubernetes.NewForConfig(config)
	b.must(err)
	return client
}

// as are the approvals that a user sees and makes.
func (b *bench) as(user string) csr.Approvals {
	return csr.Approvals{Client: b.client(user), Clock: clock.Real{}, Namespace: b.namespace}
}

func statement(run string) journal.Statement {
	return journal.Statement{Run: run, Digest: "d1", Question: "q1", Expires: 3600, From: "alice@laptop",
		Reason: "go – on", Limits: map[string]int{"max": 10}}
}

func (b *bench) statements(run string, rule journal.ApprovalRule) []engine.Said {
	b.Helper()
	said, err := b.as("bob").Statements(context.Background(), rule, run, journal.Question{ID: "q1"})
	b.must(err)
	return said
}

// remove removes the requests of a run.
func (b *bench) remove(run string) {
	b.Cleanup(func() {
		b.must(b.plane.Client().CertificatesV1().CertificateSigningRequests().DeleteCollection(context.Background(),
			metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "salve-run=" + run}))
	})
}

// make creates a request as a user writes it.
func (b *bench) make(
	user string, says journal.Statement, change func(*certificatesv1.CertificateSigningRequest),
) string {
	b.Helper()
	object, err := csr.NewRequest(says)
	b.must(err)
	change(object)
	made, err := b.client(user).CertificatesV1().CertificateSigningRequests().Create(context.Background(), object,
		metav1.CreateOptions{})
	b.must(err)
	return made.Name
}

// requestFor is a request of a certificate for an address.
func (b *bench) requestFor(uri string) []byte {
	b.Helper()
	address, err := url.Parse(uri)
	b.must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	b.must(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: []*url.URL{address}}, key)
	b.must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

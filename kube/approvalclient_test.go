package kube

import (
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// TestApprovalClientCreatesRequestsAlone: it neither approves nor deletes one, and nobody else creates any.
func TestApprovalClientCreatesRequestsAlone(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	approvals, err := ApprovalClient(w.cluster(t), permit.ForApprovals())
	if err != nil {
		t.Fatal(err)
	}
	request := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	create := func(c kubernetes.Interface) error {
		_, err := c.CertificatesV1().CertificateSigningRequests().Create(t.Context(), request, metav1.CreateOptions{})
		return err
	}
	requests := approvals.CertificatesV1().CertificateSigningRequests()
	refused := map[string]error{
		"by the cluster's own client": create(w.cluster(t).Client),
		"one that is deleted":         requests.Delete(t.Context(), "a", metav1.DeleteOptions{}),
	}
	_, refused["one that is approved"] = requests.UpdateApproval(t.Context(), "a", request, metav1.UpdateOptions{})
	_, refused["something else"] = approvals.CoreV1().Pods("any").Create(t.Context(), &corev1.Pod{},
		metav1.CreateOptions{})
	for what, err := range refused {
		if err == nil || apierr.ClassOf(Classify(err)) != apierr.Conflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	_ = create(approvals) // the answer is a Status
	want := []string{"POST /apis/certificates.k8s.io/v1/certificatesigningrequests"}
	if seen := w.requests(); !slices.Equal(seen, want) {
		t.Errorf("the server saw %v", seen)
	}
	if _, err := ApprovalClient(w.cluster(t), permit.ApprovalAccess{}); err == nil {
		t.Error("a client for approvals without access")
	}
}

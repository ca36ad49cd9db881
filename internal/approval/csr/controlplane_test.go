package csr_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/approval/csr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

func TestApprovalComesAsItWasSaidWithWhoSaidIt(t *testing.T) {
	b := newBench(t)
	b.remove("run-said")
	name, by, err := b.as("alice").Say(t.Context(), statement("run-said"))
	if err != nil || by.User != "alice" {
		t.Fatalf("%s by %s: %v", name, by, err)
	}
	said := b.statements("run-said", journal.ApprovalRule{})
	if len(said) != 1 || said[0].Refused != nil {
		t.Fatalf("statements %+v", said)
	}
	got, want := said[0].Statement, statement("run-said")
	if got.By.User != "alice" || !slices.Contains(got.By.Groups, "system:authenticated") || got.ID == "" ||
		!strings.Contains(got.Proof, name) {
		t.Errorf("it is said by %+v, shown by %s", got.By, got.Proof)
	}
	got.ID, got.By, got.Proof = "", journal.Identity{}, ""
	if got.Limits["max"] != 10 || got.Reason != want.Reason || got.From != want.From || got.Expires != want.Expires ||
		got.Digest != want.Digest || got.Question != want.Question || got.Run != want.Run || got.Denied {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if named := b.statements("run-said", journal.ApprovalRule{By: []string{"group:sre"}}); named[0].Refused == nil {
		t.Error("who is none of those that the rule names may approve")
	}
	if other := b.statements("run-other", journal.ApprovalRule{}); len(other) != 0 {
		t.Errorf("another run has %+v", other)
	}
}

// TestWhoMayNotApproveIsRefused: before anything is made, and by the runner where it was made all the same.
func TestWhoMayNotApproveIsRefused(t *testing.T) {
	b := newBench(t)
	b.remove("run-refused")
	_, _, err := b.as("mallory").Say(t.Context(), statement("run-refused"))
	const lacks = "forbidden: identity mallory lacks verb approve"
	if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), lacks) {
		t.Errorf("got %v", err)
	}
	b.make("mallory", statement("run-refused"), func(*certificatesv1.CertificateSigningRequest) {})
	said := b.statements("run-refused", journal.ApprovalRule{})
	if len(said) != 1 || said[0].Refused == nil || !strings.Contains(said[0].Refused.Error(), lacks) {
		t.Errorf("statements %+v", said)
	}
}

// TestNobodySpeaksForAnother: the API server writes who made a request, whatever the client wrote there, and neither
// who made it nor what it says changes afterwards.
func TestNobodySpeaksForAnother(t *testing.T) {
	b := newBench(t)
	b.remove("run-forged")
	name := b.make("mallory", statement("run-forged"), func(object *certificatesv1.CertificateSigningRequest) {
		object.Spec.Username, object.Spec.UID, object.Spec.Groups = "alice", "1", []string{"system:masters"}
		object.Annotations = map[string]string{"user": "alice"}
	})
	said := b.statements("run-forged", journal.ApprovalRule{})
	if len(said) != 1 || said[0].By.User != "mallory" || said[0].Refused == nil {
		t.Errorf("statements %+v", said)
	}
	requests := b.plane.Client().CertificatesV1().CertificateSigningRequests()
	_, err := requests.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"username":"alice"}}`),
		metav1.PatchOptions{})
	if after, getErr := requests.Get(t.Context(), name, metav1.GetOptions{}); getErr != nil ||
		after.Spec.Username != "mallory" {
		t.Errorf("after a patch by an administrator (%v) it is made by %s, %v", err, after.Spec.Username, getErr)
	}
}

// TestWhatIsNoStatementIsPassedOver.
func TestWhatIsNoStatementIsPassedOver(t *testing.T) {
	b := newBench(t)
	b.remove("run-odd")
	for name, change := range map[string]func(*certificatesv1.CertificateSigningRequest){
		"for another signer": func(o *certificatesv1.CertificateSigningRequest) { o.Spec.SignerName = "example.com/other" },
		"another question": func(o *certificatesv1.CertificateSigningRequest) {
			older := statement("run-odd")
			older.Question = "q0"
			other, err := csr.NewRequest(older)
			b.must(err)
			o.Spec.Request = other.Spec.Request
		},
	} {
		b.make("alice", statement("run-odd"), change)
		if said := b.statements("run-odd", journal.ApprovalRule{}); len(said) != 0 {
			t.Errorf("%s: %+v", name, said)
		}
	}
}

// TestStatementThatIsNotUnderstoodIsNone: what a request says beyond what is known may be meant to narrow.
func TestStatementThatIsNotUnderstoodIsNone(t *testing.T) {
	b := newBench(t)
	b.remove("run-new")
	const known = "salve://approval/run-new?plan=d1&question=q1&expires=1h"
	for uri, want := range map[string]int{
		known: 1, known + "&only=pod-a": 0, known + "&limit.max=1&limit.max=9": 0, known + "&limit.max=few": 0,
		known + "&denied=perhaps": 0, known + "&expires=never": 0, known + "#only-pod-a": 0,
		"salve://denial/run-new?plan=d1&question=q1&expires=1h":      0,
		"https://approval/run-new?plan=d1&question=q1&expires=1h":    0,
		"salve://me@approval/run-new?plan=d1&question=q1&expires=1h": 0,
	} {
		name := b.make("alice", statement("run-new"), func(object *certificatesv1.CertificateSigningRequest) {
			object.Spec.Request = b.requestFor(uri)
		})
		if said := b.statements("run-new", journal.ApprovalRule{}); len(said) != want {
			t.Errorf("%s: %+v", uri, said)
		}
		b.must(b.plane.Client().CertificatesV1().CertificateSigningRequests().Delete(t.Context(), name,
			metav1.DeleteOptions{}))
	}
}

// TestRequestsOfManyAreReviewedWithinBounds, and the newest first: who may make requests can make many, and hides no
// approval behind them.
func TestRequestsOfManyAreReviewedWithinBounds(t *testing.T) {
	b := newBench(t)
	b.remove("run-many")
	count := 0
	made := func() time.Time {
		name := b.make("mallory", statement("run-many"), func(object *certificatesv1.CertificateSigningRequest) {
			count++
			object.Name = fmt.Sprintf("a-%04d", count) // listed before all others
		})
		object, err := b.plane.Client().CertificatesV1().CertificateSigningRequests().Get(t.Context(), name,
			metav1.GetOptions{})
		b.must(err)
		return object.CreationTimestamp.Time
	}
	last := made()
	for range 110 {
		last = made()
	}
	for made().Equal(last) { // the API server tells seconds
	}
	_, _, err := b.as("alice").Say(t.Context(), statement("run-many"))
	b.must(err)
	config, err := clientcmd.BuildConfigFromFlags("", b.plane.KubeconfigOf(b, "bob"))
	b.must(err)
	config.QPS = -1 // no limit
	client, err := kubernetes.NewForConfig(config)
	b.must(err)
	said, err := csr.Approvals{Client: client, Clock: clock.Real{}, Namespace: b.namespace}.Statements(t.Context(),
		journal.ApprovalRule{}, "run-many", journal.Question{ID: "q1"})
	b.must(err)
	believed := slices.ContainsFunc(said, func(one engine.Said) bool {
		return one.Refused == nil && one.By.User == "alice"
	})
	left := said[len(said)-1].Left
	if len(said) != 101 || !believed || left < 12 {
		t.Errorf("%d statements and %d left, that of alice is among them: %t", len(said), left, believed)
	}
}

// TestWhatCannotBeReviewedCountsForNothing: neither who may not list nor who may not review sees an approval.
func TestWhatCannotBeReviewedCountsForNothing(t *testing.T) {
	b := newBench(t)
	b.remove("run-blind")
	_, _, err := b.as("alice").Say(t.Context(), statement("run-blind"))
	b.must(err)
	_, err = b.as("stranger").Statements(t.Context(), journal.ApprovalRule{}, "run-blind", journal.Question{ID: "q1"})
	if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), "listing approvals") {
		t.Errorf("got %v", err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-lists"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"},
		Verbs: []string{"list"},
	}}}
	_, err = b.plane.Client().RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	b.must(err)
	b.bind("test-lists", "lister", false)
	b.Cleanup(func() {
		b.must(b.plane.Client().RbacV1().ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{}))
	})
	_, err = b.as("lister").Statements(t.Context(), journal.ApprovalRule{}, "run-blind", journal.Question{ID: "q1"})
	if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), "reviewing whether alice may approve") {
		t.Errorf("got %v", err)
	}
}

// TestRightTakenBackCountsAtOnce: it is asked at the time of use.
func TestRightTakenBackCountsAtOnce(t *testing.T) {
	b := newBench(t)
	b.remove("run-revoked")
	_, _, err := b.as("alice").Say(t.Context(), statement("run-revoked"))
	b.must(err)
	b.must(b.plane.Client().RbacV1().RoleBindings(b.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{}))
	for deadline := time.Now().Add(30 * time.Second); ; { // the authorizer learns of it by a watch
		said := b.statements("run-revoked", journal.ApprovalRule{})
		if len(said) == 1 && said[0].Refused != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("statements %+v", said)
		}
	}
}

// TestRunInAClusterUnderFourEyes: who asks is who the API server says, and can't approve; who may, can, once.
func TestRunInAClusterUnderFourEyes(t *testing.T) {
	b := newBench(t)
	b.remove("run-whole")
	lit, kept := true, journal.NewMemory()
	machine := &engine.Engine{Journal: kept, Clock: clock.Real{}, Approvals: b.as("bob"),
		NewRun: func(time.Time) string { return "run-whole" }}
	machine.Watch = func(event engine.Event) {
		if event.Kind != engine.ApprovalAsked {
			return
		}
		waiting, err := journal.ReadWaiting(context.Background(), kept, "run-whole")
		if err != nil {
			t.Error(err)
			return
		}
		says := statement("run-whole")
		says.Digest, says.Question, says.Limits = waiting.Plan.Digest, waiting.Question.ID, nil
		for _, user := range []string{"bob", "alice"} {
			if _, _, err := b.as(user).Say(context.Background(), says); err != nil {
				t.Error(err)
			}
		}
	}
	result, err := machine.Run(t.Context(), lampOff(&lit), engine.Options{
		Approval: &journal.ApprovalRule{FourEyes: true, WaitSeconds: 60},
	})
	if err != nil || result.Outcome != runbook.Remediated || lit {
		t.Fatalf("%+v, %v", result, err)
	}
	record, err := journal.Load(t.Context(), kept, "run-whole")
	b.must(err)
	at := slices.IndexFunc(record.Entries, func(e journal.Entry) bool { return e.Kind == journal.Approved })
	if at < 0 || !strings.Contains(string(record.Entries[at].Data), `"user":"alice"`) {
		t.Errorf("the record says %s", record.Entries[max(at, 0)].Data)
	}
}

func lampOff(lit *bool) runbook.Runbook {
	holds := func(context.Context, runbook.Run) runbook.Finding { return runbook.Yes("so") }
	return runbook.Runbook{
		Name: "lamp-off", Version: "1", Budget: time.Minute, Target: runbook.Target{Kind: "lamp", ID: "lamp/1", Name: "lamp"},
		Guards: []runbook.Guard{{Name: "there", Evaluate: holds}},
		Steps: []runbook.Step{{
			Name: "switch", Guards: []string{"there"},
			Observe: func(context.Context, runbook.Run) runbook.Observation {
				if *lit {
					return runbook.NotStarted("it burns")
				}
				return runbook.Done("it is dark")
			},
			Apply: func(context.Context, runbook.Run) error { *lit = false; return nil },
		}},
		Checks: []runbook.Guard{{Name: "dark", Evaluate: holds}},
	}
}

// TestRolesAreWhatIsUsed: an approver can't read Secrets or change records, nor sign what was asked for.
func TestRolesAreWhatIsUsed(t *testing.T) {
	b := newBench(t)
	alice := b.client("alice")
	_, err := alice.CoreV1().Secrets(b.namespace).List(t.Context(), metav1.ListOptions{})
	_, written := alice.CoreV1().ConfigMaps(b.namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "record"}}, metav1.CreateOptions{})
	name := b.make("alice", statement("run-roles"), func(*certificatesv1.CertificateSigningRequest) {})
	b.remove("run-roles")
	deleted := alice.CertificatesV1().CertificateSigningRequests().Delete(t.Context(), name, metav1.DeleteOptions{})
	for what, err := range map[string]error{"reads Secrets": err, "writes records": written, "deletes requests": deleted} {
		if err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("an approver %s: %v", what, err)
		}
	}
	if _, err := alice.CoreV1().ConfigMaps(b.namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("an approver can't read the plan: %v", err)
	}
}

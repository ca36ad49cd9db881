package csr

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/approval"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
)

// What somebody needs the right to who approves: verb approve on runs of this group, in the journal's namespace.
const (
	Group    = "salve.internal"
	Resource = "runs"
	Verb     = "approve"
)

const (
	page = 100
	// mostReviewed bounds the reviews of one look. Who may make requests can make many.
	mostReviewed = 100
	mostListed   = 5000
)

// Approvals are those in a cluster.
type Approvals struct {
	// Client reads requests and asks for reviews; that of who approves creates requests too.
	Client kubernetes.Interface
	Clock  clock.Clock
	// Namespace is that of the journal.
	Namespace string
}

var _ engine.Approvals = Approvals{}

// Requester is who this process is for the API server.
func (a Approvals) Requester(ctx context.Context, _ journal.ApprovalRule) (journal.Identity, error) {
	var review *authenticationv1.SelfSubjectReview
	err := backoff.Retry(ctx, a.Clock, func(ctx context.Context) (err error) {
		review, err = a.Client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{},
			metav1.CreateOptions{})
		return kube.Classify(err)
	})
	if err != nil {
		return journal.Identity{}, fmt.Errorf("asking the API server who this is: %w", err)
	}
	who := review.Status.UserInfo
	if who.Username == "" {
		return journal.Identity{}, apierr.New(apierr.Terminal, "the API server does not say who this is")
	}
	return journal.Identity{User: who.Username, UID: who.UID, Groups: who.Groups}, nil
}

// Statements are those about a question, each with what the API server says of who made it.
func (a Approvals) Statements(
	ctx context.Context, rule journal.ApprovalRule, run string, question journal.Question,
) ([]engine.Said, error) {
	objects, cut, err := a.list(ctx, run)
	if err != nil {
		return nil, err
	}
	var all []engine.Said
	reviewed, left := 0, 0
	if cut {
		left = 1 // the API server doesn't say how many
	}
	for i := range objects {
		statement, err := statementIn(&objects[i])
		if err != nil || statement.Question != question.ID {
			continue // it answers nothing that is asked
		}
		if reviewed++; reviewed > mostReviewed {
			left++
			continue
		}
		said := engine.Said{Statement: statement}
		switch refused, err := a.review(ctx, run, &objects[i]); {
		case err != nil:
			return nil, err
		case refused != nil:
			said.Refused = refused
		case !approval.Names(rule, statement.By):
			said.Refused = fmt.Errorf("forbidden: %s is none of %s", statement.By, strings.Join(rule.By, ", "))
		}
		all = append(all, said)
	}
	if left > 0 {
		all = append(all, engine.Said{Left: left})
	}
	return all, nil
}

// list gives the requests about a run, the newest first, and whether there are more.
func (a Approvals) list(ctx context.Context, run string) (
	objects []certificatesv1.CertificateSigningRequest, cut bool, _ error,
) {
	options := metav1.ListOptions{
		FieldSelector: "spec.signerName=" + SignerName, LabelSelector: runLabel + "=" + run, Limit: page,
	}
	for {
		var list *certificatesv1.CertificateSigningRequestList
		err := backoff.Once(ctx, a.Clock, func(ctx context.Context) (err error) {
			list, err = a.Client.CertificatesV1().CertificateSigningRequests().List(ctx, options)
			return kube.Classify(err)
		})
		if err != nil {
			return nil, false, fmt.Errorf("listing approvals: %w", err)
		}
		objects = append(objects, list.Items...)
		if options.Continue = list.Continue; options.Continue == "" || len(objects) >= mostListed {
			newest(objects)
			return objects, options.Continue != "", nil
		}
	}
}

// review asks whether who made an object may approve runs.
func (a Approvals) review(
	ctx context.Context, run string, object *certificatesv1.CertificateSigningRequest,
) (refused, _ error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range object.Spec.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	if object.Spec.Username == "" {
		return errors.New("the API server wrote no user on it"), nil
	}
	asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: object.Spec.Username, UID: object.Spec.UID, Groups: object.Spec.Groups, Extra: extra,
		ResourceAttributes: a.attributes(run),
	}}
	var review *authorizationv1.SubjectAccessReview
	err := backoff.Once(ctx, a.Clock, func(ctx context.Context) (err error) {
		review, err = a.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{})
		return kube.Classify(err)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("reviewing whether %s may approve: %w", object.Spec.Username, err)
	case review.Status.Denied || !review.Status.Allowed:
		return errors.New(a.forbidden(object.Spec.Username, run)), nil
	}
	return nil, nil
}

func (a Approvals) attributes(run string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Group: Group, Resource: Resource, Verb: Verb, Namespace: a.Namespace, Name: run,
	}
}

func (a Approvals) forbidden(user, run string) string {
	return fmt.Sprintf("forbidden: identity %s lacks verb %s on %s.%s %s in namespace %s", user, Verb, Resource, Group,
		run, a.Namespace)
}

// Say creates the request that carries a statement, and gives its name. Who may not approve is told so before.
func (a Approvals) Say(ctx context.Context, statement journal.Statement) (name string, by journal.Identity, _ error) {
	by, err := a.Requester(ctx, journal.ApprovalRule{})
	if err != nil {
		return "", by, err
	}
	asked := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: a.attributes(statement.Run)},
	}
	var review *authorizationv1.SelfSubjectAccessReview
	err = backoff.Retry(ctx, a.Clock, func(ctx context.Context) (err error) {
		review, err = a.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{})
		return kube.Classify(err)
	})
	switch {
	case err != nil:
		return "", by, fmt.Errorf("reviewing whether this identity may approve: %w", err)
	case !review.Status.Allowed:
		return "", by, apierr.New(apierr.Denied, "%s. hint: kubectl create -n %s rolebinding salve-approver-NAME "+
			"--clusterrole=salve-approver --user=%s (deploy/approver-role.yaml)",
			a.forbidden(by.User, statement.Run), a.Namespace, by.User)
	}
	object, err := newRequest(statement)
	if err != nil {
		return "", by, err
	}
	// Made once: an answer that was lost is made again under another name, and the runner uses one of them.
	err = backoff.Once(ctx, a.Clock, func(ctx context.Context) error {
		_, err := a.Client.CertificatesV1().CertificateSigningRequests().Create(ctx, object, metav1.CreateOptions{})
		return kube.Classify(err)
	})
	if err != nil {
		return "", by, fmt.Errorf("creating CertificateSigningRequest %s: %w", object.Name, err)
	}
	return object.Name, by, nil
}

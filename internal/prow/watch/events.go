package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/prow/finding"
	"salve/kube"
)

const (
	// eventTime is how long all Events of one moment may take to be written: alarms of the next one wait for it.
	eventTime = 5 * time.Second
	// maxNote bounds the text of an Event, in bytes; the API server refuses one of more than 1024.
	maxNote = 1000
	// source is who writes them.
	source = "salve-prow-watch"
)

// Events writes a Kubernetes Event for each change of a finding that is, or was, WARN or ALERT.
type Events struct {
	// Client may write Events into the namespace, and nothing else.
	Client    kubernetes.Interface
	Namespace string
	Clock     clock.Clock
}

// Tell writes the Events.
func (e Events) Tell(ctx context.Context, report Report) error {
	ctx, cancel := clock.WithTimeout(ctx, e.Clock, eventTime)
	defer cancel()
	var failed error
	for _, change := range report.Changes {
		if change.What == Blinded || change.What == Sighted || !change.Finding.Severity.AtLeast(finding.Warn) &&
			(change.Was == "" || !change.Was.AtLeast(finding.Warn)) {
			continue
		}
		_, err := e.Client.CoreV1().Events(e.Namespace).Create(ctx, e.event(change, report.At), metav1.CreateOptions{})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("writing an Event: %w", kube.Classify(err)))
		}
	}
	return failed
}

// event is about the namespace of the ProwJobs: what a finding is about may be in another one, or in none.
func (e Events) event(change Change, at time.Time) *corev1.Event {
	kind := corev1.EventTypeWarning
	if change.What == Cleared || change.What == Eased {
		kind = corev1.EventTypeNormal
	}
	note := fmt.Sprintf("%s %s: %s", change.What, change.Finding.Severity, diagnostic.Printable(inOneLine(change)))
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: source + "-", Namespace: e.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: e.Namespace,
			Namespace: e.Namespace},
		Reason: "Prow" + change.Finding.Rule, Message: diagnostic.Cut(note, maxNote), Type: kind,
		Source: corev1.EventSource{Component: source}, ReportingController: source,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at), Count: 1,
	}
}

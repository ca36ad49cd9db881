package helmrelease_test

import (
	"context"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
	"salve/runbooks/helmrelease"
)

// fromRegistry has the scene's chart come from a registry, in which its tag names what now says.
func (s *scene) fromRegistry(digest string, now *string) {
	s.order.Origin = helmrelease.Origin{
		Reference: "oci://charts.example/web:1.2.3", Digest: digest,
		Now: func(context.Context) (string, error) {
			if *now == "" {
				return "", apierr.New(apierr.Transient, "registry charts.example does not answer")
			}
			return *now, nil
		},
	}
}

// TestAChartWhoseTagMoves between the plan and the release, or between two attempts, is not released.
func TestAChartWhoseTagMoves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now := "sha256:b"
	s.fromRegistry("sha256:a", &now)
	s.ends(runbook.Failed, "chart oci://charts.example/web:1.2.3 has moved: it was sha256:a when it was read, and is "+
		"sha256:b now")
	s.revisions()

	// An attempt fails with what the tag names; then it names something else.
	s.fromRegistry("sha256:b", &now)
	s.order.Values["nowhere"], s.order.Timeout = true, 5*time.Second
	s.ends(runbook.NeedsAttention, "Deployment")
	delete(s.order.Values, "nowhere")
	s.order.Timeout = time.Minute
	now = "sha256:c"
	s.fromRegistry("sha256:c", &now)
	s.ends(runbook.NeedsAttention, "this run began with sha256:b, and it is sha256:c now")
	s.revisions("failed")

	// One that is named otherwise is another decision, which somebody has made.
	s.order.Origin.Reference = "oci://charts.example/web:1.2.4"
	s.ends(runbook.Remediated, "")
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.fromRegistry("sha256:a", new(string))
	s.order.Timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if result := s.run(ctx); result.Outcome == runbook.Remediated {
		t.Errorf("it ended %s: %s", result.Outcome, result.Reason)
	}
	s.revisions()
}

package helmrelease_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/journal"
	"salve/runbook"
)

// dying is the journal of a process that dies when it has applied the release: nothing is written from then on.
type dying struct {
	journal.Store
	dead bool
}

func (d *dying) Append(ctx context.Context, run string, seq int, line []byte) error {
	text := string(line)
	applied := strings.Contains(text, `"kind":"requests"`) && strings.Contains(text, `"step":"apply-release"`)
	if d.dead = d.dead || applied; d.dead {
		return errors.New("the process died")
	}
	return d.Store.Append(ctx, run, seq, line)
}

// TestChartThatWasCorrectedIsApplied: what the run's process had deployed before it died has another chart, with the
// same values.
func TestChartThatWasCorrectedIsApplied(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	kept := s.journal
	s.journal = &dying{Store: kept}
	if result := s.run(t.Context()); !result.Unrecorded {
		t.Fatalf("ended %+v", result)
	}
	s.journal = kept
	s.revisions("deployed")
	corrected := maps.Clone(chart)
	corrected["templates/config.yaml"] = strings.ReplaceAll(chart["templates/config.yaml"], "hello", "good morning")
	s.chart(corrected)
	s.ends(runbook.Remediated, "")
	s.revisions("deployed", "superseded")
	there, err := s.plane.Client().CoreV1().ConfigMaps(s.in.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || there.Data["greeting"] != "good morning" {
		t.Errorf("%v, %v", there.Data, err)
	}
}

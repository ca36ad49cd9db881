package stalewebhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
	"salve/runbook"
)

// recordNote is the name under which the configuration is noted.
const recordNote = "configuration"

// recorded is what the journal keeps: enough to make the configuration again.
type recorded struct {
	identity
	Definition json.RawMessage `json:"definition"`
}

// record writes the configuration down. It changes nothing in the cluster.
func (r *removal) record() runbook.Step {
	return runbook.Step{
		Name: "record", Passive: true, Changes: "write the configuration into the journal", Guards: []string{"services-gone"},
		Observe: func(_ context.Context, run runbook.Run) runbook.Observation {
			switch found, err := run.Recall(recordNote, &recorded{}); {
			case err != nil:
				return runbook.NotObserved(err)
			case found:
				return runbook.Done("it is in the journal")
			}
			return runbook.NotStarted("it is not in the journal")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			seen, err := r.read(ctx, run)
			if err != nil {
				return err
			}
			if seen.whole == nil {
				return errors.New("not found: the configuration")
			}
			raw, err := json.Marshal(admission.ValidatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{
					Name: r.name, Labels: seen.whole.Labels, Annotations: seen.whole.Annotations,
				},
				Webhooks: seen.whole.Webhooks,
			})
			if err != nil {
				return err
			}
			return run.Note(ctx, recordNote, recorded{seen.Configuration.identity, raw})
		},
	}
}

// delete deletes the configuration that was recorded, and no other under its name.
func (r *removal) delete() runbook.Step {
	return runbook.Step{
		Name: "delete", Changes: "delete the configuration", Irreversible: true,
		Guards:        []string{"configuration-exists", "fails-closed", "services-gone"},
		Preconditions: []runbook.Guard{r.asRecorded()},
		Inputs: func(run runbook.Run) (any, error) {
			var was recorded
			_, err := run.Recall(recordNote, &was)
			return map[string]string{"uid": was.UID, "resourceVersion": was.ResourceVersion}, err
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			seen, err := r.read(ctx, run)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case seen.Configuration == nil:
				return runbook.Done("it is gone")
			}
			return runbook.NotStarted("it is there")
		},
		Apply: r.deleteRecorded,
	}
}

// asRecorded holds while the configuration is the one in the journal, unchanged: only
// that one could be made again.
func (r *removal) asRecorded() runbook.Guard {
	return runbook.Ask("as-recorded", "is it the configuration that was recorded?", r.readBoth, asRecorded)
}

// comparison is the configuration as it is, beside the one in the journal.
type comparison struct {
	reading
	Recorded identity `json:"recorded"`
}

func (r *removal) readBoth(ctx context.Context, run runbook.Run) (comparison, error) {
	var was recorded
	if found, err := run.Recall(recordNote, &was); err != nil || !found {
		return comparison{}, errors.Join(errors.New("not found: the recorded configuration"), err)
	}
	seen, err := r.read(ctx, run)
	return comparison{seen, was.identity}, err
}

func asRecorded(seen comparison) runbook.Finding {
	if now := seen.Configuration; now != nil && now.identity != seen.Recorded {
		return runbook.No("it was changed since it was recorded").WithOutcome(runbook.Failed)
	}
	return runbook.Yes("it is as recorded")
}

func (r *removal) deleteRecorded(ctx context.Context, run runbook.Run) error {
	var was recorded
	if found, err := run.ReadBack(ctx, recordNote, &was); err != nil || !found || was.UID == "" {
		return errors.Join(errors.New("not found: the recorded configuration"), err)
	}
	uid := types.UID(was.UID)
	client := r.cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err := client.Delete(ctx, r.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &was.ResourceVersion},
	})
	if err != nil {
		return fmt.Errorf("deleting validating webhook configuration %q: %w", r.name, kube.Classify(err))
	}
	r.seen.Reset()
	return nil
}

package mirrorimage

import (
	"context"
	"time"

	"salve/internal/registry"
	"salve/runbook"
)

// copying bounds how long one permit lasts: a layer may be of gigabytes.
const copying = time.Hour

// copyImage copies what lacks. There is no way back and none is needed: nothing names the image there but its digest,
// and the tag that is made of it.
func (m *mirror) copyImage() runbook.Step {
	return runbook.Step{
		Name: "copy-image", Changes: "repository " + m.Target.Repository + " of registry " + m.Target.Registry,
		Guards: []string{"source-there"}, PermitLasts: copying, Irreversible: true,
		Inputs: func(runbook.Run) (any, error) { return m.Inputs, nil },
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			seen, err := m.side(ctx, m.Target)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case !seen.Found:
				// Layers may be there all the same: the next attempt finds them.
				return runbook.NotStarted("registry %s has no such image", m.Target.Registry).Partially()
			}
			tagged, err := m.tagged(ctx)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case !m.named(tagged):
				return runbook.NotStarted("the tag %s names %s", m.Tag, orNothing(tagged)).Partially()
			}
			return runbook.Done("registry %s has the image", m.Target.Registry)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			run.Report(runbook.Progress{Text: "copying " + m.what()})
			tag := m.Tag
			if tag == "" {
				tag = m.Target.Tag()
			}
			return m.Registries.Copy(ctx, m.Source, m.Target, tag)
		},
	}
}

// copyAttached copies signatures, attestations and the like, by subject and by tag.
func (m *mirror) copyAttached() runbook.Step {
	return runbook.Step{
		Name: "copy-attached", Changes: "what is attached to it in registry " + m.Target.Registry,
		Guards: []string{"source-there"}, PermitLasts: copying, Irreversible: true,
		Inputs: func(runbook.Run) (any, error) { return m.Inputs, nil },
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			lacking, err := m.lacking(ctx)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case len(lacking) > 0:
				return runbook.NotStarted("%s to copy", things(len(lacking))).Partially()
			}
			return runbook.Done("nothing attached lacks")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			lacking, err := m.lacking(ctx)
			if err != nil {
				return err
			}
			for _, one := range lacking {
				run.Report(runbook.Progress{Text: "copying what is attached: " + one.Digest})
				from, to := m.Source, m.Target
				from.Digest, to.Digest = one.Digest, one.Digest
				if err := m.Registries.Copy(ctx, from, to, one.Tag); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (m *mirror) lacking(ctx context.Context) ([]registry.Attachment, error) {
	seen, err := m.both(ctx)
	return registry.Lacking(seen.Source.Attached, seen.Target.Attached), err
}

package cleanup

import (
	"context"

	"salve/kube"
	"salve/runbook"
)

// DeleteObjects deletes what a run has exported of the objects of definitions, the
// very ones. It reads the bundle as it goes.
func (o *Operator) DeleteObjects(ctx context.Context, run runbook.Run) error {
	return o.deleteKept(ctx, run, func(entry Entry) bool { return entry.Definition == nil })
}

// DeleteDefinitions deletes the definitions that a run has exported, the very ones.
// The API server takes along every object that they still have.
func (o *Operator) DeleteDefinitions(ctx context.Context, run runbook.Run) error {
	return o.deleteKept(ctx, run, func(entry Entry) bool { return entry.Definition != nil })
}

// DeleteNamespace deletes the namespace that a run has noted with its export, if it
// still is that one.
func (o *Operator) DeleteNamespace(ctx context.Context, run runbook.Run) error {
	bundle, err := Kept(ctx, run)
	if err != nil || bundle.NamespaceUID == "" {
		return err
	}
	return o.Delete(ctx, kube.Object{Resource: namespaces, Name: bundle.Namespace, UID: bundle.NamespaceUID})
}

func (o *Operator) deleteKept(ctx context.Context, run runbook.Run, meant func(Entry) bool) error {
	bundle, err := Kept(ctx, run)
	if err != nil {
		return err
	}
	total := bundle.Objects
	if meant(Entry{Definition: &Definition{}}) {
		total = bundle.Definitions
	}
	return o.deleteEach(ctx, total, func(visit func(kube.Object) error) error {
		return bundle.Each(func(entry Entry) error {
			if !meant(entry) {
				return nil
			}
			return visit(entry.Object)
		})
	}, run.Report)
}

// StillThere names what a run has exported and is there, the very one; the first
// of them when they are many. The objects of a definition that is gone are gone: it
// takes them along.
func (o *Operator) Remaining(ctx context.Context, run runbook.Run) ([]string, error) {
	bundle, err := Kept(ctx, run)
	if err != nil {
		return nil, err
	}
	var left []string
	standing := map[kube.Resource]bool{}
	err = bundle.Each(func(entry Entry) error {
		if len(left) == shown || entry.Definition == nil && !standing[entry.Resource] {
			return nil
		}
		there, _, err := o.State(ctx, entry.Object)
		if there {
			left = append(left, entry.String())
		}
		if entry.Definition != nil {
			standing[entry.Definition.Defines] = there
		}
		return err
	})
	return left, err
}

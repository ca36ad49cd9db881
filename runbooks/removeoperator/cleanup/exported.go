package cleanup

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// What is deleted is in the bundle of the run and was read just now as the operator's: neither alone suffices. The
// bundle says what can be restored, the reading says what is the operator's.

// DeleteObjects deletes what a run has exported of the objects of definitions, the very ones, while their
// definitions are those that were read. It reads the bundle as it goes.
func (o *Operator) DeleteObjects(ctx context.Context, run runbook.Run, now *Reading) error {
	bundle, err := o.ReadBackup(ctx, run)
	if err != nil {
		return err
	}
	return o.deleteEach(ctx, bundle.Objects, func(visit func(kube.Object) error) error {
		standing := map[kube.Resource]bool{} // of a definition that is gone the objects are gone
		return bundle.Each(func(entry Entry) error {
			switch {
			case entry.Role == RoleDefinition:
				standing[entry.Definition.Defines] = now.defines(entry.UID)
			case entry.Role == RoleObject && standing[entry.Resource]:
				return visit(entry.Object)
			}
			return nil
		})
	}, run.Report)
}

// DeleteDefinitions deletes the definitions that a run has exported, the very ones, if they were read just now. The
// API server takes along every object that they still have.
func (o *Operator) DeleteDefinitions(ctx context.Context, run runbook.Run, now *Reading) error {
	exported, err := o.exported(ctx, run, notObject)
	if err != nil {
		return err
	}
	deleted := 0
	for _, definition := range now.Definitions {
		if !exported[definition.UID] || definition.Deleting {
			continue
		}
		if err := o.Delete(ctx, definition.Object); err != nil {
			return partly(deleted, "deleted", err)
		}
		deleted++
	}
	return nil
}

// DeleteOwned deletes what is the operator's own besides, if it was exported and is as it was read.
func (o *Operator) DeleteOwned(ctx context.Context, run runbook.Run, now *Reading) error {
	exported, err := o.exported(ctx, run, notObject)
	if err != nil {
		return err
	}
	counted := o.newMeter(len(now.Owned), "deleted", run.Report)
	for _, object := range now.Owned {
		if exported[object.UID] {
			if err := o.deleteAsRead(ctx, object.Object, object.version); err != nil {
				return partly(counted.count(), "deleted", err)
			}
		}
		counted.add(1)
	}
	return nil
}

// DeleteNamespace deletes the namespace that was read just now, if it is the one that was there at the export.
func (o *Operator) DeleteNamespace(ctx context.Context, run runbook.Run, now *Reading) error {
	bundle, err := o.ReadBackup(ctx, run)
	if err != nil || now.Namespace == nil {
		return err
	}
	if now.Namespace.UID != bundle.NamespaceUID {
		return apierr.New(apierr.Terminal, "conflict: namespace %q is not the one that was exported: it was made anew",
			o.Namespace)
	}
	return o.Delete(ctx, now.Namespace.Object)
}

// exported are the UIDs of some of the objects that a run has exported.
func (o *Operator) exported(ctx context.Context, run runbook.Run, of func(Entry) bool) (map[types.UID]bool, error) {
	bundle, err := o.ReadBackup(ctx, run)
	if err != nil {
		return nil, err
	}
	return bundle.uids(of)
}

// Remaining names what a run has exported to be deleted by itself and is there, the very one; the first of them
// when they are many. The objects of a definition that is gone are gone: it takes them along. In a webhook
// configuration or a binding others may have a part by now.
func (o *Operator) Remaining(ctx context.Context, run runbook.Run) ([]string, error) {
	bundle, err := o.ReadBackup(ctx, run)
	if err != nil {
		return nil, err
	}
	var left []string
	standing := map[kube.Resource]bool{}
	err = bundle.Each(func(entry Entry) error {
		switch {
		case len(left) == shown, entry.Role == RoleHook, entry.Role == RoleOwned, entry.Role == RoleContent:
			return nil
		case entry.Role == RoleObject && !standing[entry.Resource]:
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

package cleanup

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// reading is what an operator left, after something was done to it.
func reading(t *testing.T, edit func(m *inMemory), see func(o *Operator, left *Reading)) {
	t.Helper()
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		edit(m)
		left, err := o.ReadState(ctx)
		if err != nil {
			t.Fatal(err)
		}
		see(o, left)
	})
}

// TestObjectsAreCounted, with those that wait for a finalizer of the operator, and named.
func TestObjectsAreCounted(t *testing.T) {
	reading(t, func(*inMemory) {}, func(_ *Operator, left *Reading) {
		got := left.Objects
		if got.Total != 2 || got.Deleting != 1 || got.Releasable != 1 || got.Counts["widgets.example.io"] != 2 ||
			len(got.Examples) != 2 || len(got.Names["widgets.example.io"]["team"]) != 2 {
			t.Errorf("%+v", got)
		}
		said := left.Left(time.Time{}).String()
		if !strings.Contains(said, "2 CRDs with 2 objects, 1 of them being deleted") ||
			!strings.HasSuffix(said, "; namespace op") {
			t.Error(said)
		}
	})
	reading(t, func(m *inMemory) { delete(m.objects, "/api/v1/namespaces/op") }, func(_ *Operator, left *Reading) {
		if said := left.Left(time.Time{}).String(); !strings.HasSuffix(said, "; no namespace") || left.Namespace != nil {
			t.Error(said)
		}
	})
}

// TestAllWorkloadsAreOwn: each kind of them, in the operator's namespace and where a selector finds them, once each.
func TestAllWorkloadsAreOwn(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		selector := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"part": "op"}}}
		m.put("/apis/apps/v1", "DaemonSet", "op", "everywhere", map[string]any{"spec": selector})
		m.put("/apis/batch/v1", "Job", "op", "once", nil)
		m.put("/apis/apps/v1", "Deployment", "op", "both", map[string]any{"spec": selector})["labels"] =
			map[string]any{"app": "agent"}
		workloads, err := o.workloads(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range workloads {
			names = append(names, one.Name)
		}
		slices.Sort(names)
		if want := []string{"agent", "both", "everywhere", "manager", "store"}; !slices.Equal(names, want) {
			t.Errorf("workloads %q", names)
		}
		owned, err := o.ownedObjects(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"DaemonSet", "Job", "CronJob", "Deployment", "StatefulSet"} {
			if !slices.ContainsFunc(owned, func(one Owned) bool { return one.Resource.Kind == kind }) {
				t.Errorf("no %s is the operator's: %v", kind, owned)
			}
		}
	})
}

// TestSelectorOfAnythingIsBusy: of a workload, a pod or rights, each alone.
func TestSelectorOfAnythingIsBusy(t *testing.T) {
	for kind, at := range map[string]struct{ version, namespace string }{
		"Deployment": {"/apis/apps/v1", "far"}, "StatefulSet": {"/apis/apps/v1", "far"},
		"DaemonSet": {"/apis/apps/v1", "far"},
		"Pod":       {"/api/v1", "far"}, "ClusterRole": {"/apis/rbac.authorization.k8s.io/v1", ""},
		"ClusterRoleBinding": {"/apis/rbac.authorization.k8s.io/v1", ""},
		"RoleBinding":        {"/apis/rbac.authorization.k8s.io/v1", "far"}, "ConfigMap": {"/api/v1", "far"},
	} {
		inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
			m.put(at.version, kind, at.namespace, "one", nil)["labels"] = map[string]any{"only": "here"}
			o.Selectors = []string{"only=here"}
			idle, err := o.IdleSelectors(ctx)
			if wantsIdle := kind == "ConfigMap"; err != nil || (len(idle) == 1) != wantsIdle {
				t.Errorf("%s: idle %q, %v", kind, idle, err)
			}
		})
	}
}

// TestNamespaceWithAJournalNamesIt: whatever of Salve's own would go with it.
func TestNamespaceWithAJournalNamesIt(t *testing.T) {
	for what, put := range map[string]func(m *inMemory) map[string]any{
		"configmaps op/record": func(m *inMemory) map[string]any {
			return m.put("/api/v1", "ConfigMap", "op", "record", nil)
		},
		"secrets op/export": func(m *inMemory) map[string]any { return m.put("/api/v1", "Secret", "op", "export", nil) },
		"leases.coordination.k8s.io op/lock": func(m *inMemory) map[string]any {
			return m.put("/apis/coordination.k8s.io/v1", "Lease", "op", "lock", nil)
		},
	} {
		reading(t, func(m *inMemory) { put(m)["labels"] = map[string]any{managerLabel: managerName} },
			func(_ *Operator, left *Reading) {
				if !slices.Equal(left.Namespace.Journal, []string{what}) {
					t.Errorf("%s: %q", what, left.Namespace.Journal)
				}
			})
	}
	if got := JournalNamespaces(); !slices.Equal(got, []string{"salve-system", "salve-system-exports"}) {
		t.Error(got)
	}
	if hold := (&Namespace{}).Hold(); hold != "" {
		t.Errorf("nothing holds it: %q", hold)
	}
}

// TestWhatIsNotInTheBundleIsNamedInOrder, and a namespace that is gone has nothing.
func TestWhatIsNotInTheBundleIsNamedInOrder(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
		exported(w)
		m.put("/apis/apps/v1", "Deployment", "op", "new", nil)
		m.put("/apis/batch/v1", "Job", "op", "new", nil)
		m.put("/api/v1", "Secret", "op", "new", nil)
		missing, err := o.Unexported(ctx, w.left, w.kept)
		if want := []string{"deployments.apps op/new", "jobs.batch op/new", "secrets op/new"}; err != nil ||
			!slices.Equal(missing, want) {
			t.Errorf("%q, %v", missing, err)
		}
		m.forget()
		if missing, err := o.Unexported(ctx, &Reading{}, w.kept); len(missing) > 0 || err != nil || len(m.requests()) > 0 {
			t.Errorf("%q, %v, after %q", missing, err, m.requests())
		}
	})
}

// TestEarlierNotesAreKept: what a run noted before it was cut off is not lost when it does the same again.
func TestEarlierNotesAreKept(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
		dropped(w)
		read(w) // nothing is converted any more
		w.must(o.DropConversions(ctx, w.run, w.left.Definitions))
		var had map[string]map[string]any
		if _, err := w.run.Recall(conversionsNote, &had); err != nil || len(had) != 1 {
			t.Errorf("conversions %v, %v", had, err)
		}
		stopped(w)
		w.must(o.Stop(ctx, w.run))
		var sizes map[string]int32
		if _, err := w.run.Recall(sizesNote, &sizes); err != nil || len(sizes) != 3 {
			t.Errorf("sizes %v, %v", sizes, err)
		}
	})
}

// TestForeignEntryOfABundleIsRefused where it is read, whatever its digest says.
func TestForeignEntryOfABundleIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
		exported(w)
		o.Group = "other.io"
		if err := w.kept.Each(func(Entry) error { return nil }); apierr.ClassOf(err) != apierr.Terminal &&
			!strings.Contains(err.Error(), "the run's bundle") {
			t.Errorf("%v", err)
		}
	})
}

// TestMeterSaysTheLastOfAllAtOnce, whenever it said something before.
func TestMeterSaysTheLastOfAllAtOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, _ context.Context, _ *inMemory, o *Operator) {
		var said []string
		meter := o.newMeter(3, "exported", func(p runbook.Progress) { said = append(said, p.Text) })
		meter.add(1)
		meter.add(1)
		meter.add(1)
		if want := []string{"1 of 3 objects exported", "3 of 3 objects exported"}; !slices.Equal(said, want) {
			t.Errorf("%q", said)
		}
		o.newMeter(1, "exported", nil).add(1)
	})
	if count(1, "object") != "1 object" || count(2, "object") != "2 objects" {
		t.Error(count(1, "object"), count(2, "object"))
	}
}

package cleanup

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// act is something that is done with an operator, after what it takes was prepared.
type act struct {
	name    string
	prepare func(*world)
	do      func(*world) error
}

// world is what an act is on.
type world struct {
	t    *testing.T
	ctx  context.Context
	m    *inMemory
	o    *Operator
	run  runbook.Run
	left *Reading
	kept Bundle
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func read(w *world) {
	var err error
	w.left, err = w.o.ReadState(w.ctx)
	w.must(err)
}

func exported(w *world) {
	read(w)
	w.must(w.o.Backup(w.ctx, w.run, w.left))
	var err error
	w.kept, err = w.o.ReadBackup(w.ctx, w.run)
	w.must(err)
}

func (w *world) gone(kind string) {
	for path := range w.m.objects {
		if strings.Contains(path, "/"+plural(kind)+"/") {
			delete(w.m.objects, path)
		}
	}
}

func observed(seen runbook.Observation) error { return seen.Err }

func removal(name string, do func(*Operator, context.Context, runbook.Run, *Reading) error) act {
	return act{name, exported, func(w *world) error { return do(w.o, w.ctx, w.run, w.left) }}
}

func readings() []act {
	return []act{
		{"what is left", nil, func(w *world) error { _, err := w.o.ReadState(w.ctx); return err }},
		{"what goes along", read, func(w *world) error { _, err := w.o.CascadeOf(w.ctx, w.left); return err }},
		{"a sign of life", nil, func(w *world) error { _, err := w.o.Liveness(w.ctx, nil); return err }},
		{"that it stopped", nil, func(w *world) error { return w.o.AwaitStopped(w.ctx, w.run) }},
		{"idle selectors", nil, func(w *world) error { _, err := w.o.IdleSelectors(w.ctx); return err }},
		{"the export", read, func(w *world) error { return w.o.Backup(w.ctx, w.run, w.left) }},
		{"the bundle", exported, func(w *world) error { return observed(w.o.ObserveBackup(w.ctx, w.run)) }},
		{"what is not in the bundle", exported, func(w *world) error {
			_, err := w.o.Unexported(w.ctx, w.left, w.kept)
			return err
		}},
		{"what remains", exported, func(w *world) error { _, err := w.o.Remaining(w.ctx, w.run); return err }},
		{"how far it stopped", nil, func(w *world) error { return observed(w.o.Stopped(w.ctx, w.run)) }},
		{"that none is there", func(w *world) { w.gone("Widget"); w.gone("Gadget"); read(w) }, func(w *world) error {
			return w.o.ConfirmNone(w.ctx, w.left.Definitions)
		}},
		{"that all go", func(w *world) { w.gone("Widget"); w.gone("Gadget"); read(w) }, func(w *world) error {
			return w.o.AwaitGone(w.ctx, w.left.Definitions, nil)
		}},
		{"that they go", func(w *world) { read(w); w.gone("CustomResourceDefinition") }, func(w *world) error {
			return w.o.AwaitAllGone(w.ctx, w.left.DefinitionObjects(), nil)
		}},
	}
}

func stopped(w *world) {
	replicas(w, 2)
	w.must(w.o.Stop(w.ctx, w.run))
	replicas(w, 0)
}

func replicas(w *world, n int) {
	for path, object := range w.m.objects {
		if strings.Contains(path, "/deployments/") || strings.Contains(path, "/statefulsets/") {
			object["spec"].(map[string]any)["replicas"] = n
		}
	}
}

func dropped(w *world) {
	read(w)
	w.must(w.o.DropConversions(w.ctx, w.run, w.left.Definitions))
	crd := w.m.objects["/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io"]
	crd["spec"].(map[string]any)["conversion"] = noConversion()
}

func changes() []act {
	return []act{
		removal("hooks", (*Operator).RemoveHooks), removal("objects", (*Operator).DeleteObjects),
		removal("definitions", (*Operator).DeleteDefinitions), removal("the operator", (*Operator).DeleteOwned),
		removal("the namespace", (*Operator).DeleteNamespace), removal("held objects", (*Operator).ReleaseObjects),
		removal("the rest", (*Operator).ReleaseRest),
		{"stop", func(w *world) { replicas(w, 2) }, func(w *world) error { return w.o.Stop(w.ctx, w.run) }},
		{"start again", stopped, func(w *world) error { return w.o.StartAgain(w.ctx, w.run) }},
		{"conversions", read, func(w *world) error { return w.o.DropConversions(w.ctx, w.run, w.left.Definitions) }},
		{"conversions again", dropped, func(w *world) error { return w.o.ConvertAgain(w.ctx, w.run) }},
	}
}

func recalls() []act {
	return []act{
		{"how far it started", stopped, func(w *world) error { return observed(w.o.Started(w.ctx, w.run)) }},
		{"how far it converts", dropped, func(w *world) error { return observed(w.o.ConvertedAgain(w.ctx, w.run)) }},
		{"the first removal", nil, func(w *world) error { return Part{All: 2}.Begin(w.ctx, w.run, "a") }},
		{"what was removed", nil, func(w *world) error { return observed(Part{All: 2}.SinceBegun(w.run, "a")) }},
		{"a plan", nil, func(w *world) error { _, err := Part{}.Input(w.run); return err }},
	}
}

func everything() []act { return slices.Concat(readings(), changes(), recalls()) }

// doing runs an act in a cluster of its own.
func (a act) doing(t *testing.T, run runbook.Run, before func(*world), after func(*world, error)) {
	t.Helper()
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o, run: run}
		if a.prepare != nil {
			a.prepare(w)
		}
		m.forget()
		before(w)
		after(w, a.do(w))
	})
}

// TestEachRequestThatIsDeniedIsAnError: of everything that is read or changed, nothing is taken for absent or done that
// the API server refuses to tell or to do.
func TestEachRequestThatIsDeniedIsAnError(t *testing.T) {
	for _, act := range everything() {
		t.Run(act.name, func(t *testing.T) {
			var all []string
			act.doing(t, &runbooktest.Run{}, func(*world) {}, func(w *world, err error) {
				w.must(err)
				all = w.m.requests()
			})
			for _, one := range all {
				if passedOver(act.name, one) {
					continue
				}
				act.doing(t, &runbooktest.Run{}, func(w *world) {
					w.m.refuse = func(request *http.Request) bool { return named(request) == one }
				}, func(_ *world, err error) {
					var panicked *apierr.PanicError
					if err == nil || apierr.ClassOf(err) == apierr.Missing || errors.As(err, &panicked) {
						t.Errorf("%s was denied, and it ended with %v", one, err)
					}
				})
			}
		})
	}
}

// passedOver are parts of discovery: one half of it is nothing to client-go, and of what is left no other
// group is asked.
func passedOver(act, request string) bool {
	path := request[strings.LastIndex(request, " ")+1:]
	_, group := served()[path]
	return path == "/api" || path == "/apis" || group && act == "what is left" && path != "/apis/example.io/v1"
}

// unreliable is a run of which one call fails, the nth.
type unreliable struct {
	runbooktest.Run
	calls, fails int
}

var errLost = errors.New("the journal is lost")

func (u *unreliable) call() error {
	if u.calls++; u.calls == u.fails {
		return errLost
	}
	return nil
}

func (u *unreliable) Note(ctx context.Context, name string, value any) error {
	return errors.Join(u.call(), u.Run.Note(ctx, name, value))
}

func (u *unreliable) Recall(name string, into any) (bool, error) {
	found, err := u.Run.Recall(name, into)
	return found, errors.Join(u.call(), err)
}

func (u *unreliable) ReadBack(_ context.Context, name string, into any) (bool, error) {
	found, err := u.Run.Recall(name, into)
	return found, errors.Join(u.call(), err)
}

func (u *unreliable) Export(ctx context.Context, name string, data []byte) error {
	return errors.Join(u.call(), u.Run.Export(ctx, name, data))
}

func (u *unreliable) ReadExport(ctx context.Context, name string) ([]byte, error) {
	data, err := u.Run.ReadExport(ctx, name)
	return data, errors.Join(u.call(), err)
}

// TestEachFailureOfTheJournalIsAnError: what could not be noted or recalled ends what is done, and nothing is changed
// after it.
func TestEachFailureOfTheJournalIsAnError(t *testing.T) {
	for _, act := range everything() {
		t.Run(act.name, func(t *testing.T) {
			calls := 0
			act.doing(t, &unreliable{}, func(w *world) { w.run.(*unreliable).calls = 0 }, func(w *world, err error) {
				w.must(err)
				calls = w.run.(*unreliable).calls
			})
			for n := range calls {
				act.doing(t, &unreliable{}, func(w *world) {
					run := w.run.(*unreliable)
					run.calls, run.fails = 0, n+1
				}, func(w *world, err error) {
					changed := slices.DeleteFunc(w.m.requests(), func(one string) bool { return strings.HasPrefix(one, "GET") })
					if !errors.Is(err, errLost) || len(changed) > 0 {
						t.Errorf("call %d of %d failed: %v after %q", n+1, calls, err, changed)
					}
				})
			}
		})
	}
}

// TestChangesAskTheirPermit themselves, whatever the connection does.
func TestChangesAskTheirPermit(t *testing.T) {
	for _, act := range changes() {
		act.doing(t, &runbooktest.Run{}, func(w *world) { w.ctx = permit.NewContext(w.ctx, runbook.Permit{}) },
			func(w *world, err error) {
				for _, one := range w.m.requests() {
					if !strings.HasPrefix(one, "GET") {
						t.Errorf("%s: %s without a permit", act.name, one)
					}
				}
				if apierr.ClassOf(err) != apierr.Conflict {
					t.Errorf("%s: %v", act.name, err)
				}
			})
	}
}

// TestChangesAreOfWhatWasRead: each patch names the very object and the version that was read.
func TestChangesAreOfWhatWasRead(t *testing.T) {
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	const uid = `{"op":"test","path":"/metadata/uid","value":"uid-of-`
	const version = `{"op":"replace","path":"/metadata/resourceVersion","value":"7"}`
	for name, want := range map[string]map[string]string{
		"hooks": {"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/part": `[` + uid + `part"},` + version +
			`,{"op":"remove","path":"/webhooks/2"},{"op":"remove","path":"/webhooks/1"}]`},
		"conversions": {crds + "widgets.example.io": `[` + uid + `widgets.example.io"},` + version +
			`,{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`},
		"start again": {
			"/apis/apps/v1/namespaces/op/deployments/manager/scale": `{"metadata":{"resourceVersion":"7"},"spec":{"replicas":2}}`,
			"/apis/apps/v1/namespaces/op/statefulsets/store/scale":  `{"metadata":{"resourceVersion":"7"},"spec":{"replicas":2}}`,
			"/apis/apps/v1/namespaces/team/deployments/agent/scale": `{"metadata":{"resourceVersion":"7"},"spec":{"replicas":2}}`,
		},
	} {
		at := slices.IndexFunc(changes(), func(a act) bool { return a.name == name })
		changes()[at].doing(t, &runbooktest.Run{}, func(w *world) { clear(w.m.patches) }, func(w *world, err error) {
			w.must(err)
			if len(w.m.patches) != len(want) {
				t.Errorf("%s: %q", name, w.m.patches)
			}
			for path, patch := range want {
				if w.m.patches[path] != patch {
					t.Errorf("%s: %s: %s", name, path, w.m.patches[path])
				}
			}
		})
	}
}

// TestRemovalsRemoveWhatWasExported, and nothing else.
func TestRemovalsRemoveWhatWasExported(t *testing.T) {
	for name, want := range map[string][]string{
		"hooks":       {"validatingwebhookconfigurations/whole", "apiservices/v1.stats.example.io"},
		"objects":     {"widgets/a", "widgets/b"},
		"definitions": {"customresourcedefinitions/widgets.example.io"},
		"the operator": {"deployments/manager", "deployments/agent", "statefulsets/store", "cronjobs/nightly",
			"clusterroles/role", "clusterrolebindings/binding", "rolebindings/right"},
		"the namespace": {"namespaces/op"},
	} {
		at := slices.IndexFunc(changes(), func(a act) bool { return a.name == name })
		changes()[at].doing(t, &runbooktest.Run{}, func(w *world) {
			w.m.put("/apis/example.io/v1", "Widget", "team", "new", nil)
			w.m.put("/apis/apps/v1", "Deployment", "op", "new", nil)
		}, func(w *world, err error) {
			w.must(err)
			var deleted []string
			for _, one := range w.m.requests() {
				if strings.HasPrefix(one, "DELETE") {
					at := strings.Split(one, "/")
					deleted = append(deleted, strings.Join(at[len(at)-2:], "/"))
				}
			}
			slices.Sort(deleted)
			slices.Sort(want)
			if !slices.Equal(deleted, want) {
				t.Errorf("%s: deleted %q", name, deleted)
			}
		})
	}
}

// TestWhatWasExportedIsReadBack: object by object, with what it is there for.
func TestWhatWasExportedIsReadBack(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
		exported(w)
		roles := map[Role]int{}
		w.must(w.kept.Each(func(entry Entry) error { roles[entry.Role]++; return nil }))
		want := map[Role]int{RoleDefinition: 2, RoleObject: 2, RoleHook: 3, RoleOwned: 7, RoleNamespace: 1, RoleContent: 2}
		for role, n := range want {
			if roles[role] != n {
				t.Errorf("%s: %d, want %d", role, roles[role], n)
			}
		}
		if missing, err := o.Unexported(ctx, w.left, w.kept); err != nil || len(missing) != 0 {
			t.Errorf("missing %q, %v", missing, err)
		}
		m.put("/api/v1", "ConfigMap", "op", "late", nil)
		m.put("/api/v1", "Secret", "op", "early", nil)
		missing, err := o.Unexported(ctx, w.left, w.kept)
		if err != nil || len(missing) != 2 || !slices.IsSorted(missing) {
			t.Errorf("missing %q, %v", missing, err)
		}
		remaining, err := o.Remaining(ctx, w.run)
		if err != nil || len(remaining) != 5 { // two CRDs, two widgets, the namespace
			t.Errorf("remaining %q, %v", remaining, err)
		}
		along, err := o.CascadeOf(ctx, w.left)
		if err != nil || along.Count != 1 || !strings.Contains(along.String(), "team/child") {
			t.Errorf("along %v, %v", along, err)
		}
		m.put("/api/v1", "Secret", "team", "gone", nil)
		if along, err := o.CascadeOf(ctx, w.left); err != nil || along.Count != 0 {
			t.Errorf("along, though another owner keeps it: %v, %v", along, err)
		}
		var unused kube.Object
		if err := o.deleteAsRead(ctx, unused, "7"); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("an object without identity: %v", err)
		}
	})
}

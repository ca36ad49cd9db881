package unblockpulls_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testclient "k8s.io/client-go/testing"

	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/runbook"
)

// TestWhatCanNotBeSeenIsUnknown, and nothing is asked for.
func TestWhatCanNotBeSeenIsUnknown(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"statuses": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/status", Status: 404, Message: "Not Found", Times: -1})
		}, "statuses"},
		"the pull request": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/pulls/7", Status: 404, Message: "Not Found", Times: -1})
		}, "pull request not seen"},
		"the protection": {func(w *world) {
			w.sim.Update(func(github *githubsim.World) {
				github.Repo("kube/widgets").Collaborators = map[string]string{"sam": "write"}
			})
		}, "not found, or the token may not see it"},
		"comments": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/comments", Status: 404, Message: "Not Found", Times: -1})
		}, "comments of kube/widgets#7"},
		"who reports what no job has": {func(w *world) {
			w.in.External = nil
			w.sim.Update(func(github *githubsim.World) { github.Repo("kube/widgets").Commit(headOf(7)).Statuses = nil })
			w.sim.Inject(githubsim.Fault{Path: "/commits?", Status: 404, Message: "Not Found", Times: -1})
			w.requires("cla")
		}, "who reports it was not seen"},
		"a ProwJob": {func(w *world) {
			w.job(of(9, "unit"), func(object *unstructured.Unstructured) {
				unstructured.RemoveNestedField(object.Object, "spec", "job")
			})
		}, "malformed ProwJob"},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				row.change(w)
				w.finds(unknown, "", row.says)
				w.commented(0)
			})
		})
	}
}

func TestProwJobsThatCanNotBeListed(t *testing.T) {
	in(t, func(w *world) {
		w.dynamic.PrependReactor("list", "prowjobs", func(testclient.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "prow.k8s.io", Resource: "prowjobs"}, "",
				errors.New("no"))
		})
		w.finds(unknown, "", "forbidden")
	})
}

func TestPodsThatCanNotBeListedAreUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.client.PrependReactor("list", "pods", func(testclient.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
		})
		w.says("no-strays", unknown, "forbidden")
		w.ends(w.run(), runbook.Undecided, "no-strays")
		w.commented(0)
	})
}

func TestPodsOfAnotherBuildClusterAreUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.Replace(today, "{name: unit,", "{name: unit, cluster: build-2,", 1))
		w.says("no-strays", unknown, "build-2")
		w.ends(w.run(override("no-strays")), runbook.Remediated)
	})
}

func TestAProwWithoutAnyProwJobIsUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.Helper()
		if err := w.dynamic.Tracker().Delete(prowtest.Resource(), "prow", "nightly"); err != nil {
			w.Fatal(err)
		}
		w.says("headroom", unknown, "Is that the cluster of this Prow?")
	})
}

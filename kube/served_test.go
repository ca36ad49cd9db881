package kube

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
)

// serves answers discovery: the groups, and the resources of example.io/v1.
func serves(groups []string, resources ...string) func(*http.Request) *http.Response {
	return func(request *http.Request) *http.Response {
		switch request.URL.Path {
		case "/api":
			return said(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
				Versions: []string{"v1"}})
		case "/apis":
			list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
			for _, group := range groups {
				version := metav1.GroupVersionForDiscovery{GroupVersion: group + "/v1", Version: "v1"}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{version},
					PreferredVersion: version})
			}
			return said(http.StatusOK, list)
		case "/apis/example.io/v1":
			list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
				GroupVersion: "example.io/v1"}
			for _, name := range resources {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Kind: "Widget", Namespaced: true})
			}
			return said(http.StatusOK, list)
		}
		return nil
	}
}

// TestAbsenceIsTheObjectsOwn404 or that of a path which discovery does not list.
func TestAbsenceIsTheObjectsOwn404(t *testing.T) {
	t.Parallel()
	pathNotFound := func() *http.Response { return plain(http.StatusNotFound, "text/plain", "404 page not found") }
	everything := serves([]string{"apps", "example.io"}, "widgets")
	for name, c := range map[string]struct {
		answer    func() *http.Response
		discovery func(*http.Request) *http.Response
		absent    bool
	}{
		"its own": {func() *http.Response { return notFound("widgets", "a") },
			everything, true},
		"of another object": {func() *http.Response { return notFound("widgets", "b") },
			everything, false},
		"of its namespace": {func() *http.Response { return notFound("namespaces", "team") },
			everything, false},
		"of the path, which is served":        {pathNotFound, everything, false},
		"of the path, whose group is not":     {pathNotFound, serves([]string{"apps"}), true},
		"of the path, whose resource is not":  {pathNotFound, serves([]string{"apps", "example.io"}, "gadgets"), true},
		"of the path, and discovery is empty": {pathNotFound, serves(nil), false},
		"of the path, and discovery is missing": {pathNotFound, func(*http.Request) *http.Response { return pathNotFound() },
			false},
		"gone, which is about a version": {func() *http.Response {
			return refusal(http.StatusGone, metav1.StatusReasonGone, nil)
		}, everything, false},
		"forbidden": {func() *http.Response { return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, nil) },
			everything, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, nil, func(t *testing.T, a *api, cluster *Cluster) {
				a.answer = func(request *http.Request, _ string) *http.Response {
					if strings.Contains(request.URL.Path, "/widgets") {
						return c.answer()
					}
					return c.discovery(request)
				}
				object := Object{Resource: Resource{GroupVersionResource: widgets, Kind: "Widget", Namespaced: true},
					Namespace: "team", Name: "a", UID: "1"}
				exists, _, err := cluster.State(t.Context(), object)
				if absent := err == nil && !exists; absent != c.absent {
					t.Errorf("absent %v, want %v (%v)", absent, c.absent, err)
				}
				if err != nil && apierr.ClassOf(err) == apierr.Missing {
					t.Errorf("class missing: %v", err)
				}
				if err := cluster.Delete(under(t.Context(), nil), object); (err == nil) != c.absent {
					t.Errorf("deleting it: %v", err)
				}
			})
		})
	}
}

func TestAnotherObjectThanWasAskedForIsAnError(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]metav1.ObjectMeta{
		"name":      {Namespace: "team", Name: "b", UID: "1"},
		"namespace": {Namespace: "other", Name: "a", UID: "1"},
	} {
		onAPI(t, nil, func(t *testing.T, a *api, cluster *Cluster) {
			a.answer = func(*http.Request, string) *http.Response {
				return said(http.StatusOK, metav1.PartialObjectMetadata{
					TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}, ObjectMeta: got,
				})
			}
			object := Object{Resource: Resource{GroupVersionResource: widgets, Namespaced: true}, Namespace: "team",
				Name: "a", UID: "1"}
			if found, err := cluster.MetadataOf(t.Context(), object); err == nil || !strings.Contains(err.Error(),
				"unexpected object") {
				t.Errorf("%s: got %v, %v", name, found, err)
			}
		})
	}
}

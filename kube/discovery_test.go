package kube

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
)

// TestDiscoveryThatLacksWhatAlwaysIsThereIsUnseen: what is missing from an answer that was cut short is not gone.
func TestDiscoveryThatLacksWhatAlwaysIsThereIsUnseen(t *testing.T) {
	t.Parallel()
	whole := map[string][]string{"v1": {"pods", "secrets"}, "apps/v1": {"deployments"}, "example.io/v1": {"widgets"}}
	for name, row := range map[string]struct {
		version string
		names   []string
		seen    bool
	}{
		"all of it":             {"example.io/v1", []string{"widgets"}, true},
		"one group less":        {"example.io/v1", nil, true},
		"no core resources":     {"v1", nil, false},
		"no pods":               {"v1", []string{"secrets"}, false},
		"no apps":               {"apps/v1", nil, false},
		"apps, no deployments":  {"apps/v1", []string{"statefulsets"}, false},
		"deployments elsewhere": {"apps/v1", []string{"deploymentslike"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, nil, func(t *testing.T, a *api, cluster *Cluster) {
				a.answer = func(request *http.Request, _ string) *http.Response {
					version, resources := strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/"), []string(nil)
					if request.URL.Path == "/api" || request.URL.Path == "/apis" {
						return serves([]string{"apps", "example.io"})(request)
					}
					if resources = whole[version]; version == row.version {
						resources = row.names
					}
					list := metav1.APIResourceList{GroupVersion: version,
						TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
					for _, resource := range resources {
						list.APIResources = append(list.APIResources, metav1.APIResource{Name: resource, Kind: "Any",
							Namespaced: true, Verbs: garbageCollectorVerbs()})
					}
					return said(http.StatusOK, list)
				}
				found, err := cluster.GarbageCollected(t.Context(), func(string) bool { return false })
				if seen := err == nil && len(found) > 0; seen != row.seen {
					t.Fatalf("%v, %v", found, err)
				}
				if !row.seen && apierr.ClassOf(err) != apierr.Transient {
					t.Errorf("class %v: %v", apierr.ClassOf(err), err)
				}
			})
		})
	}
}

package kube

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
)

// conflict is the answer to a change whose precondition failed.
func conflict(pod string) *http.Response {
	return refusal(http.StatusConflict, metav1.StatusReasonConflict, &metav1.StatusDetails{Kind: "pods", Name: pod})
}

// TestConflictOfADeletionIsNotADeletedObject: only who reads that the object is gone, or another one, may say so.
func TestConflictOfADeletionIsNotADeletedObject(t *testing.T) {
	t.Parallel()
	metadata := func(uid types.UID) func() *http.Response {
		return func() *http.Response {
			return said(http.StatusOK, metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web-0", UID: uid},
			})
		}
	}
	for name, row := range map[string]struct {
		read func() *http.Response
		gone bool
	}{
		"it is there":     {read: metadata("uid-of-web-0")},
		"it was replaced": {read: metadata("uid-of-another"), gone: true},
		"it is gone":      {read: func() *http.Response { return notFound("pods", "web-0") }, gone: true},
		"it can't be read": {read: func() *http.Response {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
				a.answer = func(request *http.Request, pod string) *http.Response {
					if request.Method == http.MethodDelete {
						return conflict(pod)
					}
					return row.read()
				}
				pods := Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
					Kind: "Pod", Namespaced: true}
				very := Object{Resource: pods, Namespace: "team", Name: "web-0", UID: "uid-of-web-0"}
				if err := c.Delete(under(t.Context(), nil), very); (err == nil) != row.gone {
					t.Errorf("deleted: %v", err)
				}
			})
		})
	}
}

// TestConflictOfAnEvictionIsNotADeletedPod: somebody else changed the pod, or its budget, and the pod is there.
func TestConflictOfAnEvictionIsNotADeletedPod(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = func(request *http.Request, pod string) *http.Response {
			if request.Method == http.MethodPost {
				return conflict(pod)
			}
			return nil
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
		if err != nil || len(drained.Evicted) > 0 || len(drained.Remaining) != 1 {
			t.Errorf("%+v, %v", drained, err)
		}
	})
}

// TestRedirectWithoutTLSIsNotFollowed: the same server's name, and everybody on the way reads the token.
func TestRedirectWithoutTLSIsNotFollowed(t *testing.T) {
	t.Parallel()
	var seen []string
	server := roundTripper(func(request *http.Request) (*http.Response, error) {
		seen = append(seen, request.URL.String())
		response := said(http.StatusTemporaryRedirect, metav1.Status{})
		response.Header.Set("Location", "http://api.example/api/v1/nodes")
		return response, nil
	})
	c, err := ForConfig(&rest.Config{Host: "https://api.example", BearerToken: "secret", Transport: server},
		clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a redirect was followed")
	}
	if len(seen) != 1 || seen[0] != "https://api.example/api/v1/nodes" {
		t.Errorf("these left: %v", seen)
	}
}

// nodeAnswer is one node as the API server has it.
func nodeAnswer(labels map[string]string) corev1.Node {
	return corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "uid-of-node-1", ResourceVersion: "7", Labels: labels}}
}

// TestNodeThatIsNotCordonedIsNotSaidToBe: because it changes all the time, or nobody may cordon it.
func TestNodeThatIsNotCordonedIsNotSaidToBe(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		refusal func() *http.Response
		class   apierr.Class
		patches int
	}{
		"it changes": {func() *http.Response {
			return refusal(http.StatusConflict, metav1.StatusReasonConflict, nil)
		}, apierr.Conflict, maxConflicts},
		"forbidden": {func() *http.Response {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, nil)
		}, apierr.Denied, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, nil, func(t *testing.T, a *api, c *Cluster) {
				patches := 0
				a.answer = func(request *http.Request, _ string) *http.Response {
					if request.Method == http.MethodPatch {
						patches++
						return row.refusal()
					}
					return said(http.StatusOK, nodeAnswer(nil))
				}
				err := c.Cordon(under(t.Context(), nil), Node{Name: "node-1", UID: "uid-of-node-1"})
				if err == nil || apierr.ClassOf(err) != row.class || patches != row.patches {
					t.Errorf("after %d patches: %v of class %s", patches, err, apierr.ClassOf(err))
				}
			})
		})
	}
}

// TestNodesThatTheLabelsDoNotSelectAreNone: whoever answers did not apply the selector, and what is not of the pool
// would be drained with it.
func TestNodesThatTheLabelsDoNotSelectAreNone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		labels   map[string]string
		selected bool
	}{
		"of the pool":     {map[string]string{"pool": "system"}, true},
		"of another pool": {map[string]string{"pool": "user"}, false},
		"of no pool":      {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, nil, func(t *testing.T, a *api, c *Cluster) {
				a.answer = func(*http.Request, string) *http.Response {
					return said(http.StatusOK, corev1.NodeList{
						TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, Items: []corev1.Node{nodeAnswer(row.labels)},
					})
				}
				if nodes, err := c.Nodes(t.Context(), "pool=system"); (err == nil && len(nodes) == 1) != row.selected {
					t.Errorf("selected %+v, %v", nodes, err)
				}
			})
		})
	}
}

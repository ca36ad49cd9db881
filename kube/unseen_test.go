package kube

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
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

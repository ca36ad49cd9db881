package cleanup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/internal/permit"
	"salve/kube"
)

// answers are those of an API server to a deletion and to the reading after it.
type answers struct{ toDelete, toRead string }

func (a answers) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := a.toRead
	if request.Method == http.MethodDelete {
		answer = a.toDelete
	}
	if answer == "" {
		return nil, errors.New("not scripted")
	}
	status := http.StatusOK
	for code, text := range map[int]string{http.StatusConflict: `"code":409`, http.StatusForbidden: `"code":403`,
		http.StatusNotFound: `"code":404`} {
		if strings.Contains(answer, text) {
			status = code
		}
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: request,
	}, nil
}

// TestConflictIsNoDeletion: what changed since it was read is deleted only where a reading says so.
func TestConflictIsNoDeletion(t *testing.T) {
	const (
		status   = `{"kind":"Status","apiVersion":"v1","status":"Failure",`
		metadata = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` +
			`"metadata":{"namespace":"team","name":"own",`
	)
	conflict := status + `"code":409,"reason":"Conflict"}`
	for name, row := range map[string]struct {
		read    string
		deleted bool
	}{
		"it is there":         {read: metadata + `"uid":"uid-1"}}`},
		"it is being deleted": {read: metadata + `"uid":"uid-1","deletionTimestamp":"2026-11-22T12:00:00Z"}}`, deleted: true},
		"it was replaced":     {read: metadata + `"uid":"uid-2"}}`, deleted: true},
		"it can't be read":    {read: status + `"code":403,"reason":"Forbidden"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster, err := kube.ForConfig(&rest.Config{Host: "https://api.example", Transport: answers{conflict, row.read}},
					clock.RealClock{})
				if err != nil {
					t.Fatal(err)
				}
				granted := permit.Mint(permit.Terms{Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
					Lease: func(context.Context) error { return nil }})
				bindings := kube.Resource{Kind: "RoleBinding", Namespaced: true, GroupVersionResource: schema.GroupVersionResource{
					Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}}
				own := kube.Object{Resource: bindings, Namespace: "team", Name: "own", UID: "uid-1"}
				err = (&Operator{Cluster: cluster}).deleteAsRead(permit.NewContext(t.Context(), granted), own, "7")
				if (err == nil) != row.deleted {
					t.Errorf("deleted: %v", err)
				}
			})
		})
	}
}

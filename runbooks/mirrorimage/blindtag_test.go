package mirrorimage_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/internal/registry"
	"salve/internal/registry/registrytest"
	"salve/runbook"
)

// refusing answers 403 to whatever asks for a tag, and notes what is written.
type refusing struct {
	tag    string
	writes *int
}

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		*r.writes++
	}
	if strings.HasSuffix(request.URL.Path, "/manifests/"+r.tag) {
		return &http.Response{
			StatusCode: http.StatusForbidden, Status: "403 Forbidden", Header: http.Header{}, Body: http.NoBody,
			Request: request,
		}, nil
	}
	return http.DefaultTransport.RoundTrip(request)
}

// TestATagThatCannotBeSeenIsNotTakenForFree: what it names is unknown, and nothing is written.
func TestATagThatCannotBeSeenIsNotTakenForFree(t *testing.T) {
	s := layoutScene(t, true)
	s.ends(runbook.Remediated, "")
	layout, err := registry.OpenLayout(s.in.Layout)
	if err != nil {
		t.Fatal(err)
	}
	other := registrytest.PushArtifact(t, s.in.Target.Registry, s.in.Target.Repository, s.in.Tag, "a/config", "a/layer",
		nil)
	writes := 0
	s.wire = layout.Over(refusing{s.in.Tag, &writes})
	s.ends(runbook.Undecided, "403")
	if got := s.tagged(); got != other.Digest || writes > 0 {
		t.Errorf("the tag names %s after %d writes, want %s", got, writes, other.Digest)
	}
}

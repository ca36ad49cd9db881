package registry_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
)

func TestParseReference(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string]registry.Reference{
		"oci://charts.example/fleet/web:1.0.0": {Registry: "charts.example", Repository: "fleet/web", Tag: "1.0.0"},
		"oci://127.0.0.1:5000/web:1.0.0+build": {Registry: "127.0.0.1:5000", Repository: "web", Tag: "1.0.0_build"},
		"oci://charts.example/web@" + digest:   {Registry: "charts.example", Repository: "web", Digest: digest},
		"oci://charts.example/web:1@" + digest: {Registry: "charts.example", Repository: "web", Tag: "1", Digest: digest},
	} {
		if got, err := registry.ParseReference(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"oci://charts.example/web":          "it needs a tag or a digest. hint: oci://charts.example/web:VERSION",
		"https://charts.example/web:1":      "it must be oci://",
		"oci://charts.example":              "it must be oci://",
		"oci://charts.example/Web:1":        "repository can only contain",
		"oci://charts.example/web:a b":      "tag",
		"oci://charts.example/web@sha256:1": "sha256:1",
		"oci:///web:1":                      "registry",
	} {
		if _, err := registry.ParseReference(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: want %q: %v", text, says, err)
		}
	}
}

func TestLayerOfAnArtifact(t *testing.T) {
	wanted := registry.Artifact{Config: "application/a.config", Layers: []string{"application/a.layer"}, Largest: 100}
	for rule, test := range map[string]struct{ config, kind, text, says string }{
		"is read":                      {"application/a.config", "application/a.layer", "text", ""},
		"is of the type that is meant": {"application/b.config", "application/a.layer", "text", `is of type "application/b.config"`},
		"has the one layer":            {"application/a.config", "application/b.layer", "text", "has 0 layers"},
		"is no larger than allowed": {"application/a.config", "application/a.layer", strings.Repeat("x", 101),
			"101 bytes, and at most 100"},
	} {
		t.Run(rule, func(t *testing.T) {
			host := registrytest.Serve(t, nil)
			image := registrytest.PushArtifact(t, host, "web", "1", test.config, test.kind, []byte(test.text))
			client := registry.New(nil, nil)
			digest, err := client.Resolve(t.Context(), registry.Reference{Registry: host, Repository: "web", Tag: "1"})
			if err != nil || digest != image.Digest {
				t.Fatalf("resolved %s, %v", digest, err)
			}
			raw, err := client.Layer(t.Context(), image, wanted)
			switch {
			case test.says == "":
				if err != nil || string(raw) != test.text {
					t.Errorf("read %q, %v", raw, err)
				}
			case apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), test.says):
				t.Errorf("want %q: %v", test.says, err)
			}
		})
	}
}

// TestALayerOfAnotherContentIsRefused, whatever a registry sends under a digest.
func TestALayerOfAnotherContentIsRefused(t *testing.T) {
	forge := false
	host := registrytest.Serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if forge && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
				_, _ = w.Write([]byte("evil"))
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	image := registrytest.PushArtifact(t, host, "web", "1", "application/a.config", "application/a.layer", []byte("good"))
	forge = true
	wanted := registry.Artifact{Config: "application/a.config", Layers: []string{"application/a.layer"}, Largest: 100}
	if raw, err := registry.New(nil, nil).Layer(t.Context(), image, wanted); err == nil {
		t.Errorf("read %q", raw)
	}
}

func TestATagThatIsNotThere(t *testing.T) {
	host := registrytest.Serve(t, nil)
	_, err := registry.New(nil, nil).Resolve(t.Context(), registry.Reference{Registry: host, Repository: "web", Tag: "1"})
	if apierr.ClassOf(err) != apierr.Missing {
		t.Errorf("got %v", err)
	}
}

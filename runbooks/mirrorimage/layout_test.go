package mirrorimage_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"salve/internal/clock"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/mirrorimage"
)

// layoutScene is a layout whose image is to be in a registry under its tag.
func layoutScene(t *testing.T, archived bool) *scene {
	t.Helper()
	s := newScene(t)
	s.in.Layout, s.in.Tag = filepath.Join(t.TempDir(), "image"), "20261126.1"
	digest := registrytest.Layout(t, s.in.Layout, s.in.Tag)
	if archived {
		registrytest.Archive(t, s.in.Layout, s.in.Layout+".tar")
		s.in.Layout += ".tar"
	}
	layout, err := registry.OpenLayout(s.in.Layout)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := layout.Digest(s.in.Tag); err != nil || found != digest {
		t.Fatalf("the layout has %s, %v, want %s", found, err, digest)
	}
	s.in.Source = registry.Image{Registry: registry.LayoutHost, Repository: "fleet/controller", Digest: digest}
	s.in.Target.Digest = digest
	s.wire = layout.Over(nil)
	return s
}

// tagged is what the target has under the tag of the build.
func (s *scene) tagged() string {
	s.t.Helper()
	digest, err := registry.New(nil, nil).Resolve(s.t.Context(), registry.Reference{
		Registry: s.in.Target.Registry, Repository: s.in.Target.Repository, Tag: s.in.Tag,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return digest
}

func TestMirrorsALayout(t *testing.T) {
	for kind, archived := range map[string]bool{"a folder": false, "a tar file": true} {
		t.Run(kind, func(t *testing.T) {
			s := layoutScene(t, archived)
			s.ends(runbook.Remediated, "")
			if got := s.tagged(); got != s.in.Target.Digest {
				t.Errorf("the tag names %s, want %s", got, s.in.Target.Digest)
			}
			there, err := registry.New(nil, nil).Attached(t.Context(), s.in.Target)
			if err != nil || len(there) != 1 {
				t.Errorf("attached are %v, %v", there, err)
			}
			s.ends(runbook.Remediated, "") // it looks, and changes nothing
		})
	}
}

// TestATagOfAnotherBuildIsNotMoved: rollout tools would move it.
func TestATagOfAnotherBuildIsNotMoved(t *testing.T) {
	s := layoutScene(t, true)
	other := registrytest.PushArtifact(t, s.in.Target.Registry, s.in.Target.Repository, s.in.Tag, "a/config",
		"a/layer", nil)
	s.ends(runbook.NeedsAttention, "names another image")
	if got := s.tagged(); got != other.Digest {
		t.Errorf("the tag names %s, want %s", got, other.Digest)
	}
}

// TestAnImageWithoutItsTagIsNotDone: the tag is what others look for.
func TestAnImageWithoutItsTagIsNotDone(t *testing.T) {
	s := layoutScene(t, true)
	s.ends(runbook.Remediated, "")
	reference, err := name.NewTag(s.in.Target.Registry + "/" + s.in.Target.Repository + ":" + s.in.Tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Delete(reference); err != nil {
		t.Fatal(err)
	}
	s.ends(runbook.Remediated, "")
	if got := s.tagged(); got != s.in.Target.Digest {
		t.Errorf("the tag names %s, want %s", got, s.in.Target.Digest)
	}
}

func TestALayoutCrashesAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		s := layoutScene(t, true)
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				layout, err := registry.OpenLayout(s.in.Layout)
				if err != nil {
					t.Fatal(err)
				}
				client := registry.New(layout.Over(process.Transport(http.DefaultTransport)), nil)
				book, err := mirrorimage.New(mirrorimage.World{Registries: client, Clock: clock.Real{}}, s.in)
				if err != nil {
					t.Fatal(err)
				}
				return book
			},
			Verify: func() {
				if got := s.tagged(); got != s.in.Target.Digest {
					t.Errorf("the tag names %s, want %s", got, s.in.Target.Digest)
				}
			},
			MayRepeat: func(string) bool { return true },
		}
	}, runbooktest.EveryNth(13))
}

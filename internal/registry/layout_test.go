package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
)

// TestALayoutInAFolderLeadsNowhereElse: a link out of it is not followed.
func TestALayoutInAFolderLeadsNowhereElse(t *testing.T) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	digest := registrytest.Layout(t, folder, "1")
	blob := filepath.Join(folder, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
	if err := os.Rename(blob, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, blob); err != nil {
		t.Fatal(err)
	}
	layout, err := registry.OpenLayout(folder)
	if err != nil {
		t.Fatal(err)
	}
	client := registry.New(layout.Over(nil), nil)
	image := registry.Image{Registry: registry.LayoutHost, Repository: "a", Digest: digest}
	if got, err := client.Manifest(t.Context(), image); err == nil {
		t.Errorf("read %+v through a link", got)
	}
}

func TestWhatIsNoLayout(t *testing.T) {
	folder := t.TempDir()
	torn, garbled := filepath.Join(folder, "torn.tar"), filepath.Join(folder, "garbled")
	if err := os.WriteFile(torn, []byte("no tar file, and long enough to be none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(garbled, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(garbled, "index.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		torn: "is no tar file, or a torn one", garbled: "reading index.json", folder: "it is no OCI layout",
		filepath.Join(folder, "none"): "no such file",
	} {
		if _, err := registry.OpenLayout(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: want %q: %v", path, says, err)
		}
	}
}

// TestBytesOfAnotherDigestAreRefused, whatever the layout calls them.
func TestBytesOfAnotherDigestAreRefused(t *testing.T) {
	folder := t.TempDir()
	digest := registrytest.Layout(t, folder, "1")
	blob := filepath.Join(folder, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
	if err := os.WriteFile(blob, []byte(`{"schemaVersion":2,"manifests":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	layout, err := registry.OpenLayout(folder)
	if err != nil {
		t.Fatal(err)
	}
	image := registry.Image{Registry: registry.LayoutHost, Repository: "a", Digest: digest}
	got, err := registry.New(layout.Over(nil), nil).Manifest(t.Context(), image)
	if err == nil || apierr.ClassOf(err) == apierr.Missing {
		t.Errorf("read %+v, %v", got, err)
	}
}

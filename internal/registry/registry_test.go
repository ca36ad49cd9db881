package registry_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
)

// permitted is a context that may change things.
func permitted(t *testing.T) context.Context {
	t.Helper()
	return permit.NewContext(t.Context(), permit.Mint(permit.Terms{
		Run: "run-1", Expires: time.Now().Add(time.Hour), Now: time.Now, Lease: func(context.Context) error { return nil },
	}))
}

// counter counts the requests of a registry that change something.
type counter struct {
	mu      sync.Mutex
	changes []string
}

func (c *counter) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			c.mu.Lock()
			c.changes = append(c.changes, r.Method+" "+r.URL.Path)
			c.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

func (c *counter) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.changes
	c.changes = nil
	return taken
}

func in(image registry.Image, host string) registry.Image {
	image.Registry = host
	return image
}

func TestCopy(t *testing.T) {
	for kind, index := range map[string]bool{"an image": false, "an index of images": true} {
		t.Run(kind, func(t *testing.T) {
			seen := &counter{}
			here, there := registrytest.Serve(t, nil), registrytest.Serve(t, seen.watch)
			image := registrytest.Push(t, here, "fleet/controller", index)
			target := in(image, there)
			client := registry.New(nil, nil)
			if _, err := client.Manifest(t.Context(), target); apierr.ClassOf(err) != apierr.Missing {
				t.Fatalf("before it is copied: %v", err)
			}
			if err := client.Copy(permitted(t), image, target, image.Tag()); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Manifest(t.Context(), target); err != nil {
				t.Error(err)
			}
			if changes := seen.taken(); len(changes) == 0 {
				t.Error("nothing was copied")
			}
			if err := client.Copy(permitted(t), image, target, image.Tag()); err != nil {
				t.Error(err)
			}
			if changes := seen.taken(); len(changes) > 0 {
				t.Errorf("what is there was copied again: %q", changes)
			}
		})
	}
}

// TestTagThatCannotBeSeenIsNotWritten: it may name another image.
func TestTagThatCannotBeSeenIsNotWritten(t *testing.T) {
	seen := &counter{}
	here := registrytest.Serve(t, nil)
	there := registrytest.Serve(t, func(next http.Handler) http.Handler {
		return seen.watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/manifests/v1") {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		}))
	})
	image := registrytest.Push(t, here, "fleet/controller", false)
	err := registry.New(nil, nil).Copy(permitted(t), image, in(image, there), "v1")
	if apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("%s: %v", apierr.ClassOf(err), err)
	}
	for _, change := range seen.taken() {
		if strings.HasSuffix(change, "/manifests/v1") {
			t.Errorf("it asked for %s", change)
		}
	}
}

func TestWithoutAPermitNothingIsCopied(t *testing.T) {
	seen := &counter{}
	here, there := registrytest.Serve(t, nil), registrytest.Serve(t, seen.watch)
	image := registrytest.Push(t, here, "fleet/controller", false)
	if err := registry.New(nil, nil).Copy(t.Context(), image, in(image, there), ""); err == nil {
		t.Error("it was copied")
	}
	if changes := seen.taken(); len(changes) > 0 {
		t.Errorf("these requests left: %q", changes)
	}
}

func TestATagIsNeverMoved(t *testing.T) {
	host := registrytest.Serve(t, nil)
	first := registrytest.Push(t, host, "fleet/controller", false)
	second := registrytest.Push(t, host, "fleet/controller", false)
	client := registry.New(nil, nil)
	if err := client.Copy(permitted(t), first, first, "stable"); err != nil {
		t.Fatal(err)
	}
	err := client.Copy(permitted(t), second, second, "stable")
	if apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), first.Digest) {
		t.Errorf("it says %v", err)
	}
}

func TestAttached(t *testing.T) {
	host := registrytest.Serve(t, nil)
	image := registrytest.Push(t, host, "fleet/controller", false)
	client := registry.New(nil, nil)
	if all, err := client.Attached(t.Context(), image); err != nil || len(all) != 0 {
		t.Fatalf("nothing is attached yet: %v, %v", all, err)
	}
	subject := registrytest.Attach(t, image, "")
	signature := registrytest.Attach(t, image, strings.Replace(image.Digest, ":", "-", 1)+".sig")
	other := registrytest.Push(t, host, "fleet/controller", false)
	registrytest.Attach(t, other, "")
	all, err := client.Attached(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, one := range all {
		digests = append(digests, one.Digest)
	}
	if len(all) != 2 || !slices.Contains(digests, subject) || !slices.Contains(digests, signature) {
		t.Errorf("attached are %+v; want %s and %s", all, subject, signature)
	}
}

// TestWhatIsAttachedToPartsIsAttached: each image of an index may be signed by itself, and a list of what is in it too.
func TestWhatIsAttachedToPartsIsAttached(t *testing.T) {
	host := registrytest.Serve(t, nil)
	index := registrytest.Push(t, host, "fleet/controller", true)
	children := registrytest.Children(t, index)
	contents := index
	contents.Digest = registrytest.Attach(t, children[0], "")
	want := map[string]string{
		"a list of what is in an image of it": contents.Digest,
		"the signature of that list":          registrytest.Attach(t, contents, ""),
		"an image's signature, by its tag": registrytest.Attach(t, children[1],
			strings.Replace(children[1].Digest, ":", "-", 1)+".sig"),
	}
	all, err := registry.New(nil, nil).Attached(t.Context(), index)
	if err != nil || len(all) != len(want) {
		t.Errorf("attached are %+v, %v", all, err)
	}
	for what, digest := range want {
		if !slices.ContainsFunc(all, func(one registry.Attachment) bool { return one.Digest == digest }) {
			t.Errorf("%s is not among them", what)
		}
	}
}

func TestARegistryThatSendsAnotherImageIsNotBelieved(t *testing.T) {
	here := registrytest.Serve(t, nil)
	first := registrytest.Push(t, here, "fleet/controller", false)
	second := registrytest.Push(t, here, "fleet/controller", false)
	liar := registrytest.Serve(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+here+strings.ReplaceAll(r.URL.Path, first.Digest, second.Digest),
				http.StatusTemporaryRedirect)
		})
	})
	if _, err := registry.New(nil, nil).Manifest(t.Context(), in(first, liar)); err == nil {
		t.Error("another image was taken for it")
	}
}

func TestRefusalsHaveAClass(t *testing.T) {
	for status, want := range map[int]apierr.Class{
		http.StatusUnauthorized: apierr.Denied, http.StatusForbidden: apierr.Denied, http.StatusNotFound: apierr.Missing,
		http.StatusTooManyRequests: apierr.Throttled, http.StatusConflict: apierr.Conflict,
		http.StatusInternalServerError: apierr.Transient, http.StatusTeapot: apierr.Terminal,
	} {
		host := registrytest.Serve(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v2/" {
					w.WriteHeader(status)
				}
			})
		})
		image := registry.Image{Registry: host, Repository: "a", Digest: "sha256:" + strings.Repeat("0", 64)}
		_, err := registry.New(nil, nil).Manifest(t.Context(), image)
		if class := apierr.ClassOf(err); class != want {
			t.Errorf("HTTP %d is %s, want %s: %v", status, class, want, err)
		}
	}
}

func TestValidate(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for text, valid := range map[registry.Image]bool{
		{Registry: "kv.azurecr.io", Repository: "fleet/controller", Digest: digest}: true,
		{Registry: "127.0.0.1:5000", Repository: "a", Digest: digest}:               true,
		{Registry: "", Repository: "a", Digest: digest}:                             false,
		{Registry: "kv.azurecr.io", Repository: "", Digest: digest}:                 false,
		{Registry: "kv.azurecr.io", Repository: "a", Digest: "latest"}:              false,
		{Registry: "kv.azurecr.io", Repository: "a", Digest: "sha256:ab"}:           false,
		{Registry: "kv.azurecr.io", Repository: "A B", Digest: digest}:              false,
		{Registry: "kv.azurecr.io", Repository: "a:tag", Digest: digest}:            false,
		{Registry: "evil.example/kv.azurecr.io", Repository: "a", Digest: digest}:   false,
		{Registry: "docker.io", Repository: "busybox", Digest: digest}:              false, // it is library/busybox
		{Registry: "kv.azurecr.io", Repository: "a", Digest: digest + "@" + digest}: false,
		{Registry: "kv.azurecr.io", Repository: "../a", Digest: digest}:             false,
	} {
		if err := text.Validate(); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

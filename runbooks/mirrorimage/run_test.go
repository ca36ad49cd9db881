package mirrorimage_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/mirrorimage"
)

// patience is how much faster time goes for the engine, which waits for what may heal.
const patience = 60

// scene is two registries, an image in the first one, and a journal.
type scene struct {
	t       *testing.T
	in      mirrorimage.Inputs
	journal journal.Store
	// wire is below the client; nil is the network.
	wire http.RoundTripper
	// blind has the target refuse all reading.
	blind atomic.Bool
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, journal: journal.NewMemory()}
	here := registrytest.Serve(t, nil)
	there := registrytest.Serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.blind.Load() && r.URL.Path != "/v2/" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	s.in.Source = registrytest.Push(t, here, "fleet/controller", true)
	s.in.Target = s.in.Source
	s.in.Target.Registry = there
	t.Cleanup(func() { runbooktest.Replayed(t, s.journal, mirrorimage.Name, decides) })
	return s
}

// decides makes the runbook of a record without registries.
func decides(history *journal.History) (runbook.Runbook, error) {
	var in mirrorimage.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return mirrorimage.Replayed(in, history.Header.Target)
}

func (s *scene) ends(want runbook.Outcome, says string) {
	s.t.Helper()
	clk := clock.NewScaled(patience)
	book, err := mirrorimage.New(mirrorimage.World{Registries: registry.New(s.wire, nil), Clock: clk}, s.in)
	if err != nil {
		s.t.Fatal(err)
	}
	result, err := (&engine.Engine{Journal: s.journal, Clock: clk}).Run(s.t.Context(), book, engine.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	if result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.t.Fatalf("ended %s: %s, want %s: %s", result.Outcome, result.Reason, want, says)
	}
}

func TestMirrorsAnImageWithAllThatIsAttached(t *testing.T) {
	s := newScene(t)
	registrytest.Attach(t, s.in.Source, "")
	registrytest.Attach(t, s.in.Source, strings.Replace(s.in.Source.Digest, ":", "-", 1)+".sig")
	registrytest.Attach(t, registrytest.Children(t, s.in.Source)[0], "")
	s.ends(runbook.Remediated, "")
	client := registry.New(nil, nil)
	wanted, err := client.Attached(t.Context(), s.in.Source)
	if err != nil {
		t.Fatal(err)
	}
	there, err := client.Attached(t.Context(), s.in.Target)
	if err != nil || len(wanted) != 3 || len(registry.Lacking(wanted, there)) > 0 {
		t.Errorf("%d are attached, and the target lacks %v, %v", len(wanted), registry.Lacking(wanted, there), err)
	}
	s.ends(runbook.Remediated, "") // it looks, and changes nothing
}

func TestASignatureThatComesLaterIsCopiedByTheNextRun(t *testing.T) {
	s := newScene(t)
	s.ends(runbook.Remediated, "")
	registrytest.Attach(t, s.in.Source, "")
	s.ends(runbook.Remediated, "")
}

func TestEnds(t *testing.T) {
	for rule, test := range map[string]struct {
		change  func(*scene)
		outcome runbook.Outcome
		says    string
	}{
		"an image that isn't there": {func(s *scene) {
			s.in.Source.Digest = "sha256:" + strings.Repeat("0", 64)
			s.in.Target.Digest = s.in.Source.Digest
		}, runbook.Failed, "has no image"},
		"a target that can't be read": {func(s *scene) { s.blind.Store(true) }, runbook.Undecided, "403"},
		"a signature of the target's own": {func(s *scene) {
			s.ends(runbook.Remediated, "")
			tag := strings.Replace(s.in.Source.Digest, ":", "-", 1) + ".sig"
			registrytest.Attach(s.t, s.in.Target, tag)
			registrytest.Attach(s.t, s.in.Source, tag)
		}, runbook.NeedsAttention, "names another image"},
	} {
		t.Run(rule, func(t *testing.T) {
			s := newScene(t)
			test.change(s)
			s.ends(test.outcome, test.says)
		})
	}
}

func TestInputs(t *testing.T) {
	good := registry.Image{Registry: "a.example", Repository: "a", Digest: "sha256:" + strings.Repeat("0", 64)}
	other, same := good, good
	other.Registry, other.Digest = "b.example", "sha256:"+strings.Repeat("1", 64)
	layout, mirror := good, good
	layout.Registry, mirror.Registry = registry.LayoutHost, "b.example"
	for says, in := range map[string]mirrorimage.Inputs{
		"a mirror holds the same image": {Source: good, Target: other},
		"the source is the target":      {Source: good, Target: same},
		"a registry and a repository":   {Source: good},
		"is that of layouts":            {Source: layout, Target: good},
		"a layout is no target":         {Source: good, Target: layout},
		"tag":                           {Source: good, Target: mirror, Tag: "a b"},
	} {
		if _, err := mirrorimage.New(mirrorimage.World{}, in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

// TestCrashAnywhere: killed at any request and any write, and resumed, the image is there.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		s := newScene(t)
		registrytest.Attach(t, s.in.Source, "")
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				client := registry.New(process.Transport(http.DefaultTransport), nil)
				book, err := mirrorimage.New(mirrorimage.World{Registries: client, Clock: clock.Real{}}, s.in)
				if err != nil {
					t.Fatal(err)
				}
				return book
			},
			Verify: func() {
				if _, err := registry.New(nil, nil).Manifest(t.Context(), s.in.Target); err != nil {
					t.Error(err)
				}
			},
			// What is named by its digest is the same however often it is sent.
			MayRepeat: func(string) bool { return true },
		}
	}, runbooktest.EveryNth(11))
}

func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	book, err := mirrorimage.Replayed(mirrorimage.Inputs{
		Source: registry.Image{Registry: "a.example", Repository: "a", Digest: digest},
		Target: registry.Image{Registry: "b.example", Repository: "a", Digest: digest}, Tag: "1",
	}, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	const none, seen = `{"found":false,"mediaType":"","size":0,"attached":[]}`, `"seen":"2026-11-24T12:00:00Z"`
	side := func(tag string) string {
		return `{"found":true,"mediaType":"m","size":7,"attached":[{"digest":"d","kind":"k","tag":"` + tag + `"}]}`
	}
	tagged := func(source, target, tagged string) string {
		return `{"source":` + source + `,"target":` + target + `,"tagged":"` + tagged + `",` + seen + `}`
	}
	both := func(source, target string) string { return tagged(source, target, digest) }
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"source-there": {
			Readings: []string{`{"image":` + side("") + `,` + seen + `}`, `{"image":` + none + `,` + seen + `}`},
			Evidence: []string{"image.mediaType", "image.size", "seen"},
			Said:     []string{"image.attached"},
			Unused:   map[string]string{},
		},
		"mirrored": {
			Readings: []string{both(side(""), side("")), both(side("x"), side("")), both(none, side("")), both(side(""), none),
				tagged(side(""), side(""), "other")},
			Evidence: []string{"seen"},
			Unused: map[string]string{
				"source.attached[].kind": "for operators", "target.attached[].kind": "for operators",
			},
		},
	}, book)
}

package cleanup

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

var errEnded = errors.New("the step's time is over")

// TestWithinLetsNothingTakeLonger, and hides no other end.
func TestWithinLetsNothingTakeLonger(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, _ *inMemory, o *Operator) {
		forever := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		began := time.Now()
		if err := o.Within(ctx, time.Minute, forever); err != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := o.Within(ctx, time.Minute, func(context.Context) error { return errEnded }); !errors.Is(err, errEnded) {
			t.Errorf("an error of its own: %v", err)
		}
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errEnded)
		if err := o.Within(ended, time.Minute, forever); !errors.Is(err, errEnded) {
			t.Errorf("the end of all: %v", err)
		}
	})
}

// TestAFewObjectsAreWaitedFor: with pauses, until the very ones are gone.
func TestAFewObjectsAreWaitedFor(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o}
		read(w)
		m.forget()
		time.AfterFunc(30*time.Second, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			w.gone("CustomResourceDefinition")
		})
		var said []runbook.Progress
		began := time.Now()
		err := o.AwaitAllGone(ctx, w.left.DefinitionObjects(), func(p runbook.Progress) { said = append(said, p) })
		if passed := time.Since(began); err != nil || passed < 30*time.Second || passed > time.Minute {
			t.Errorf("%v after %v", err, passed)
		}
		if len(said) == 0 || said[0].Text != "0 of 2 objects gone" || len(said[0].Details) != 1 || len(m.asked) > 300 {
			t.Errorf("said %+v, %d requests", said, len(m.asked))
		}
		m.fill()
		ended, cancel := context.WithCancelCause(ctx)
		stop := func(runbook.Progress) { cancel(errEnded) }
		if err := o.AwaitAllGone(ended, w.left.DefinitionObjects(), stop); !errors.Is(err, errEnded) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestObjectsAreWaitedForByAWatch, and by a list where the watch is refused, fails, ends or is silent.
func TestObjectsAreWaitedForByAWatch(t *testing.T) {
	deleted := `{"type":"DELETED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}}`
	added, failed := strings.Replace(deleted, "DELETED", "ADDED", 1), `{"type":"ERROR","object":{"kind":"Status","code":410}}`
	for rule, row := range map[string]struct {
		refuse     bool
		happens    func(*io.PipeWriter)
		soon, late time.Duration
	}{
		"two go": {happens: func(w *io.PipeWriter) { _, _ = io.WriteString(w, deleted+"\n"+deleted+"\n") }},
		"three go, one came": {happens: func(w *io.PipeWriter) {
			_, _ = io.WriteString(w, added+"\n"+deleted+"\n"+deleted+"\n"+deleted+"\n")
		}},
		"an error": {happens: func(w *io.PipeWriter) { _, _ = io.WriteString(w, failed+"\n") }, late: 10 * time.Second},
		"an end":   {happens: func(w *io.PipeWriter) { _ = w.Close() }, late: 10 * time.Second},
		"silence":  {happens: func(*io.PipeWriter) {}, soon: 50 * time.Second, late: 70 * time.Second},
		"no watch": {refuse: true, soon: 30 * time.Second, late: 40 * time.Second},
	} {
		t.Run(rule, func(t *testing.T) {
			inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
				w := &world{t: t, ctx: ctx, m: m, o: o}
				read(w)
				only := w.left.Definitions[1:]
				if only[0].Defines.Kind != "Widget" {
					t.Fatalf("definitions %v", w.left.Definitions)
				}
				if row.refuse {
					m.refuse = func(request *http.Request) bool { return request.URL.Query().Get("watch") != "" }
				}
				vanish := func() {
					m.mu.Lock()
					defer m.mu.Unlock()
					w.gone("Widget")
				}
				time.AfterFunc(time.Second, func() {
					if !row.refuse {
						row.happens(m.firstWatch())
						vanish()
					}
				})
				if row.refuse {
					time.AfterFunc(30*time.Second, vanish)
				}
				var last runbook.Progress
				began := time.Now()
				err := o.AwaitGone(ctx, only, func(p runbook.Progress) { last = p })
				if passed := time.Since(began); err != nil || passed < row.soon || passed > max(row.late, 2*time.Second) ||
					last.Text == "" {
					t.Errorf("%v after %v, said last %+v", err, passed, last)
				}
			})
		})
	}
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o}
		read(w)
		ended, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(30*time.Second, func() { cancel(errEnded) })
		if err := o.AwaitGone(ended, w.left.Definitions, nil); !errors.Is(err, errEnded) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// altering is a run whose exports are not what was written.
type altering struct{ runbooktest.Run }

func (a *altering) ReadExport(ctx context.Context, name string) ([]byte, error) {
	data, err := a.Run.ReadExport(ctx, name)
	if err == nil {
		data[len(data)-1] ^= 1
	}
	return data, err
}

// TestExportIsOfWhatWasRead: what was made anew meanwhile, or is another object, ends it, and leaves no bundle.
func TestExportIsOfWhatWasRead(t *testing.T) {
	const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io"
	about := func(m *inMemory, path string) map[string]any { return m.objects[path]["metadata"].(map[string]any) }
	for rule, row := range map[string]struct {
		edit func(*inMemory)
		says string
	}{
		"a CRD was made anew": {func(m *inMemory) { about(m, crd)["uid"] = "another" }, "made anew"},
		"a CRD is gone":       {func(m *inMemory) { delete(m.objects, crd) }, "notfound"},
		"another is given":    {func(m *inMemory) { about(m, crd)["name"] = "b" }, "gave /b"},
		"a hook is gone": {func(m *inMemory) {
			delete(m.objects, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/whole")
		}, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
				w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
				read(w)
				row.edit(m)
				err := o.Backup(ctx, w.run, w.left)
				found, _ := w.run.Recall(bundleNote, &Bundle{})
				if (err == nil) != (row.says == "") || found != (err == nil) ||
					err != nil && !strings.Contains(strings.ToLower(err.Error()), row.says) {
					t.Errorf("%v, a bundle is noted: %v", err, found)
				}
			})
		})
	}
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		w := &world{t: t, ctx: ctx, m: m, o: o}
		read(w)
		if err := o.Backup(ctx, &altering{}, w.left); err == nil {
			t.Error("an export that is not what was written was believed")
		}
	})
}

// TestBundleFileIsTheRunsOwn: it is kept under its name, without what the cluster says of an object, and no other run
// overwrites it.
func TestBundleFileIsTheRunsOwn(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		o.Bundle = filepath.Join(t.TempDir(), "bundle.json.gz")
		m.put("/apis/apps/v1", "Deployment", "op", "says", map[string]any{"status": map[string]any{"secretly": "<&>"},
			"spec": map[string]any{"replicas": 0, "text": "<&>", "selector": map[string]any{}}})
		w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
		exported(w)
		if w.kept.File != o.Bundle || len(w.kept.content) != 0 || w.kept.Bytes == 0 {
			t.Errorf("%+v", w.kept)
		}
		var whole bytes.Buffer
		w.must(w.kept.read(&whole, func(Entry) error { return nil }))
		unzipped, err := gzip.NewReader(&whole)
		w.must(err)
		text, err := io.ReadAll(unzipped)
		w.must(err)
		if bytes.Contains(text, []byte("secretly")) || !bytes.Contains(text, []byte("<&>")) ||
			bytes.Contains(text, []byte(`"resourceVersion"`)) || !bytes.Contains(text, []byte(exportedUID)) {
			t.Errorf("%s", text)
		}
		w.must(o.Backup(ctx, w.run, w.left)) // once more, after a crash
		other := &runbooktest.Run{Name: "run-2"}
		if err := o.Backup(ctx, other, w.left); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("another run: %v", err)
		}
		failed := fmt.Errorf("%w", errEnded)
		if err := w.kept.Each(func(Entry) error { return failed }); !errors.Is(err, errEnded) {
			t.Errorf("a visit that failed: %v", err)
		}
	})
}

package configmap

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

const secretsPath = "/api/v1/namespaces/journal/secrets/"

// TestKeyIsReadOnce: and made once, of whatever processes ask for it.
func TestKeyIsReadOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w := &wire{api: a}
		j := w.journal(t, 0)
		made, err := j.MakeKey(t.Context(), "mend")
		if err != nil {
			t.Fatal(err)
		}
		before := w.requests()
		for _, ask := range []func() (journal.Key, error){
			func() (journal.Key, error) { return j.Key(t.Context(), "mend") },
			func() (journal.Key, error) { return j.MakeKey(t.Context(), "mend") },
		} {
			if again, err := ask(); err != nil || again.ID() != made.ID() || w.requests() != before {
				t.Errorf("%v, %v after %d requests", again, err, w.requests()-before)
			}
		}
		other := &wire{api: a}
		if read, err := other.journal(t, 0).MakeKey(t.Context(), "mend"); err != nil || read.ID() != made.ID() ||
			len(other.sent) != 1 {
			t.Errorf("another process: %v, %v after %v", read, err, other.sent)
		}
		if kept := a.objects[secretsPath+"journal-key-mend"]; !kept.Immutable ||
			kept.Metadata.Labels[ownerLabel] != ownerName {
			t.Errorf("the Secret is %+v", kept.Metadata)
		}
	})
}

// TestKeyThatSomebodyElseMadeMeanwhileIsRead: and ours is forgotten.
func TestKeyThatSomebodyElseMadeMeanwhileIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w := &wire{api: a}
		var theirs journal.Key
		first := true
		w.meets = func(request *http.Request) fate {
			if request.Method == http.MethodPost && first {
				first = false
				var secret []byte
				theirs, secret = journal.RandomKey()
				text := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%x\n", secret))
				a.store(secretsPath+"journal-key-mend", object{Metadata: metadata{Name: "journal-key-mend"},
					Data: map[string]any{keyField: text}})
			}
			return served
		}
		key, err := w.journal(t, 0).MakeKey(t.Context(), "mend")
		if err != nil || key.ID() != theirs.ID() {
			t.Errorf("%v, %v, want %v", key, err, theirs)
		}
	})
}

// TestKeyThatCannotBeHadSaysWhatToDo: where an administrator can do it.
func TestKeyThatCannotBeHadSaysWhatToDo(t *testing.T) {
	secret := func(field, text string) func(*api) {
		return func(a *api) {
			data := map[string]any{field: base64.StdEncoding.EncodeToString([]byte(text))}
			a.store(secretsPath+"journal-key-mend", object{Metadata: metadata{Name: "journal-key-mend"}, Data: data})
		}
	}
	for name, row := range map[string]struct {
		there func(*api)
		meets fate
		class apierr.Class
		want  string
		hint  bool
	}{
		"no Secret":     {func(*api) {}, served, apierr.Missing, "not found", true},
		"forbidden":     {func(*api) {}, forbidden, apierr.Denied, "no rights", true},
		"no such field": {secret("other", "00"), served, apierr.Terminal, "0 bytes, want 32", false},
		"no digits":     {secret(keyField, "xyz"), served, apierr.Terminal, "hexadecimal digits", false},
		"too short":     {secret(keyField, "abcd"), served, apierr.Terminal, "2 bytes, want 32", false},
		"too long":      {secret(keyField, strings.Repeat("ab", 33)), served, apierr.Terminal, "33 bytes, want 32", false},
		"no API server": {func(*api) {}, unsent, apierr.Transient, "EOF", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				row.there(a)
				w := &wire{api: a, meets: func(*http.Request) fate { return row.meets }}
				j := w.journal(t, 0)
				var refused *journal.KeyError
				_, err := j.Key(t.Context(), "mend")
				if !errors.As(err, &refused) || refused.Where != "secret journal/journal-key-mend" ||
					apierr.ClassOf(err) != row.class {
					t.Fatalf("got %v", err)
				}
				if !strings.Contains(err.Error(), row.want) ||
					strings.Contains(err.Error(), "kubectl -n journal create secret") != row.hint {
					t.Errorf("it says %v", err)
				}
				if row.class == apierr.Missing {
					return
				}
				if _, err := j.MakeKey(t.Context(), "mend"); !errors.As(err, &refused) || apierr.ClassOf(err) != row.class {
					t.Errorf("made: %v", err)
				}
				if slices.ContainsFunc(w.sent, func(sent string) bool { return strings.HasPrefix(sent, "POST") }) {
					t.Errorf("it was made anew: %v", w.sent)
				}
			})
		})
	}
}

// TestSecretsAreNamedAfterTheirRunbook: by a digest where its name can't be one.
func TestSecretsAreNamedAfterTheirRunbook(t *testing.T) {
	if got := KeySecret("aks-recreate-pool"); got != "journal-key-aks-recreate-pool" {
		t.Errorf("got %q", got)
	}
	seen := map[string]bool{}
	for _, runbook := range []string{"", "A", "a.b", "a/b", "-a", "a-", strings.Repeat("a", 64), "x.00"} {
		name := KeySecret(runbook)
		if !strings.HasPrefix(name, "journal-key-x.") || len(name) != len("journal-key-x.")+16 || seen[name] {
			t.Errorf("runbook %q: %q", runbook, name)
		}
		seen[name] = true
	}
}

// TestExportIsWhatWasKept: of any size, and once.
func TestExportIsWhatWasKept(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		_, j := a.kept(t)
		for name, data := range map[string][]byte{"empty": {}, "small": []byte("definition"), "bulk": bulk(),
			"zeros": make([]byte, 1<<20)} {
			if err := j.PutExport(t.Context(), "run-1", name, data); err != nil {
				t.Fatal(err)
			}
			if read, err := j.Export(t.Context(), "run-1", name); err != nil || !bytes.Equal(read, data) {
				t.Errorf("%s: %d bytes, %v", name, len(read), err)
			}
			if err := j.PutExport(t.Context(), "run-1", name, data); err != nil {
				t.Errorf("%s again: %v", name, err)
			}
			other := append(bytes.Clone(data), 'x')
			if err := j.PutExport(t.Context(), "run-1", name, other); apierr.ClassOf(err) != apierr.Conflict ||
				!strings.Contains(fmt.Sprint(err), "namespace journal-exports") {
				t.Errorf("%s with other data: %v", name, err)
			}
		}
		for path, kept := range a.objects {
			if strings.Contains(path, "/secrets/") && (!kept.Immutable || kept.Metadata.Labels[runLabel] != "run-1" ||
				!strings.Contains(path, "/journal-exports/")) {
				t.Errorf("%s: %+v", path, kept.Metadata)
			}
		}
	})
}

// TestExportIsThereWhenItsFirstPieceIs: which is written last, so that what a process
// that died left is none.
func TestExportIsThereWhenItsFirstPieceIs(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, j := a.kept(t)
		w.meets = func(request *http.Request) fate {
			if request.Method == http.MethodPost && strings.Contains(request.URL.Path, "/secrets") {
				if _, found := a.objects["/api/v1/namespaces/journal-exports/secrets/"+chunkName("run-1", "bundle", 1)]; found {
					return forbidden // killed before the last one
				}
			}
			return served
		}
		if err := j.PutExport(t.Context(), "run-1", "bundle", bulk()); err == nil {
			t.Fatal("it was kept")
		}
		w.meets = nil
		var missing *journal.MissingError
		if _, err := j.Export(t.Context(), "run-1", "bundle"); !errors.As(err, &missing) ||
			apierr.ClassOf(err) != apierr.Missing || !strings.Contains(missing.Where, "bundle") {
			t.Errorf("half an export: %v", err)
		}
		if err := j.PutExport(t.Context(), "run-1", "bundle", bulk()); err != nil {
			t.Errorf("the same again: %v", err)
		}
	})
}

// TestExportThatSomebodyTouchedIsNotRead: nor is one that unpacks to more than any.
func TestExportThatSomebodyTouchedIsNotRead(t *testing.T) {
	bomb, err := pack(make([]byte, journal.MaxExport+1))
	if err != nil {
		t.Fatal(err)
	}
	packed := func(raw []byte) func(*object) {
		return func(o *object) { o.Data[chunkField] = base64.StdEncoding.EncodeToString(raw) }
	}
	chunks := func(text string) func(*object) {
		return func(o *object) { o.Metadata.Annotations[chunksAnnotation] = text }
	}
	for name, row := range map[string]struct {
		spoil func(*object)
		want  string
	}{
		"not packed":          {packed([]byte("definition")), "unpacking"},
		"cut":                 {packed(bomb[:len(bomb)/2]), "unpacking"},
		"a bomb":              {packed(bomb), "above the limit"},
		"no number":           {chunks("x"), chunksAnnotation},
		"no pieces":           {chunks("0"), chunksAnnotation},
		"pieces below zero":   {chunks("-1"), chunksAnnotation},
		"too many pieces":     {chunks("1000000"), chunksAnnotation},
		"more than there are": {chunks("2"), "not found"},
	} {
		inBubble(t, func(t *testing.T, a *api) {
			w, j := a.kept(t)
			if err := j.PutExport(t.Context(), "run-1", "bundle", []byte("definition")); err != nil {
				t.Fatal(err)
			}
			a.edit(t, "/api/v1/namespaces/journal-exports/secrets/"+chunkName("run-1", "bundle", 0), row.spoil)
			before := w.requests()
			data, err := j.Export(t.Context(), "run-1", "bundle")
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %d bytes, %v", name, len(data), err)
			}
			if w.requests()-before > 2 {
				t.Errorf("%s: %d requests", name, w.requests()-before)
			}
			if strings.Contains(row.want, chunksAnnotation) {
				err := j.PutExport(t.Context(), "run-1", "bundle", []byte("definition"))
				if apierr.ClassOf(err) != apierr.Conflict || err == nil {
					t.Errorf("%s, kept again: %v", name, err)
				}
			}
		})
	}
}

// TestUnpackingStopsAtTheLimit: and not before it.
func TestUnpackingStopsAtTheLimit(t *testing.T) {
	packed, err := pack(make([]byte, 100))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := unpack(packed, 100); err != nil || len(data) != 100 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := unpack(packed, 99); err == nil || data != nil {
		t.Errorf("above the limit: %d bytes", len(data))
	}
}

// TestDeletingARunLeavesTheOthers: its exports go first, its first part last, so that
// it is listed as long as anything of it is there.
func TestDeletingARunLeavesTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, j := a.kept(t, half("one"), half("two"))
		err := errors.Join(j.PutExport(t.Context(), "run-1", "bundle", []byte("x")), j.Create(t.Context(), "run-10"),
			j.PutExport(t.Context(), "run-10", "bundle", []byte("x")))
		if err != nil {
			t.Fatal(err)
		}
		before := w.requests()
		if err := j.Delete(t.Context(), "run-1"); err != nil {
			t.Fatal(err)
		}
		want := []string{"DELETE /api/v1/namespaces/journal-exports/secrets", "DELETE " + partPath + "2",
			"DELETE " + partPath + "1"}
		got := slices.DeleteFunc(slices.Clone(w.sent[before:]),
			func(sent string) bool { return strings.HasPrefix(sent, "GET") })
		if !slices.Equal(got, want) {
			t.Errorf("sent %v", got)
		}
		if runs, err := j.Runs(t.Context()); err != nil || !slices.Equal(runs, []string{"run-10"}) {
			t.Errorf("left %v, %v", runs, err)
		}
		if _, err := j.Export(t.Context(), "run-10", "bundle"); err != nil {
			t.Errorf("the other's export: %v", err)
		}
		var missing *journal.MissingError
		if err := j.Delete(t.Context(), "run-1"); !errors.As(err, &missing) {
			t.Errorf("a second time: %v", err)
		}
		// What was known of it is forgotten: its name may be used again.
		if err := errors.Join(j.Create(t.Context(), "run-1"),
			j.Append(t.Context(), "run-1", 1, []byte("eins\n"))); err != nil {
			t.Errorf("made anew: %v", err)
		}
		if line, err := j.ReadLine(t.Context(), "run-1", 1); err != nil || string(line) != "eins" {
			t.Errorf("its line is %.10s, %v", line, err)
		}
	})
}

// TestDeletingARunWithoutExports: the namespace of exports may not be there, and
// somebody else may delete it at the same time.
func TestDeletingARunWithoutExports(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, j := a.kept(t, half("one"), half("two"))
		w.meets = func(request *http.Request) fate {
			if request.Method == http.MethodDelete {
				delete(a.objects, partPath+"2")
			}
			return served
		}
		if err := j.Delete(t.Context(), "run-1"); err != nil {
			t.Error(err)
		}
		if runs, err := j.Runs(t.Context()); err != nil || len(runs) != 0 {
			t.Errorf("left %v, %v", runs, err)
		}
	})
}

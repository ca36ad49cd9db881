package configmap

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
)

// TestRecordHasSoManyPartsAndNoMore: one that never ends is not read for ever.
func TestRecordHasSoManyPartsAndNoMore(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		for n := 1; n <= maxParts+5; n++ {
			a.objects[fmt.Sprint(partPath, n)] = object{Metadata: metadata{Name: fmt.Sprint("run-run-1-", n)}, Immutable: true}
		}
		w := &wire{api: a}
		j := w.journal(t, 0)
		var broken *journal.BrokenError
		if _, err := j.Read(t.Context(), "run-1"); !errors.As(err, &broken) ||
			!strings.Contains(broken.Reason, "more parts than any") {
			t.Errorf("got %v", err)
		}
		if len(w.sent) != maxParts {
			t.Errorf("%d requests", len(w.sent))
		}
		if parts, err := j.readParts(t.Context(), "run-1"); err != nil || parts != maxParts {
			t.Errorf("%d parts, %v", parts, err)
		}
	})
}

// TestRunsAreListedByTheirNames: of all pages, and whatever labels say.
func TestRunsAreListedByTheirNames(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		first := map[string]string{ownerLabel: ownerName, partLabel: "1", runLabel: "another"}
		add := func(name string, labels map[string]string) {
			a.store("/api/v1/namespaces/journal/configmaps/"+name, object{Metadata: metadata{Name: name, Labels: labels}})
		}
		var want []string
		for n := range 2*listPage + 3 {
			run := fmt.Sprintf("r%04d", n)
			want = append(want, run)
			add("run-"+run+"-1", first)
		}
		add("run-UPPER-1", first)
		add("walk-x-1", first)
		add("run-x-2", first)
		add("run-y-1", map[string]string{partLabel: "1"})
		add("run-z-1", map[string]string{ownerLabel: ownerName, partLabel: "2"})
		w := &wire{api: a}
		got, err := w.journal(t, 0).Runs(t.Context())
		if err != nil || !slices.Equal(got, want) || len(w.sent) != 3 {
			t.Errorf("%d runs in %d requests, %v", len(got), len(w.sent), err)
		}
		w.meets = func(*http.Request) fate { return forbidden }
		if _, err := w.journal(t, 0).Runs(t.Context()); apierr.ClassOf(err) != apierr.Denied ||
			!strings.Contains(fmt.Sprint(err), "namespace journal") {
			t.Errorf("forbidden: %v", err)
		}
	})
}

// TestRunThatIsThereIsNotMadeAgain: also where an answer was lost, unless it is ours.
func TestRunThatIsThereIsNotMadeAgain(t *testing.T) {
	for name, row := range map[string]struct {
		lines   []string
		unclear bool
		made    bool
	}{
		"an empty one":                  {nil, false, false},
		"one with a line":               {[]string{"one"}, false, false},
		"an empty one, after no answer": {nil, true, true},
		"one with a line, after none":   {[]string{"one"}, true, false},
		"one of two parts, after none":  {[]string{half("one"), half("two")}, true, false},
	} {
		inBubble(t, func(t *testing.T, a *api) {
			a.kept(t, row.lines...)
			w := &wire{api: a}
			w.meets = func(*http.Request) fate {
				if row.unclear && len(w.sent) == 1 {
					return unsent
				}
				return served
			}
			err := w.journal(t, 0).Create(t.Context(), "run-1")
			if (err == nil) != row.made || err != nil &&
				(apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "namespace journal")) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestWritersGiveUpAfterAMinute: the API server doesn't come back, and what was asked
// for is not said to be done.
func TestWritersGiveUpAfterAMinute(t *testing.T) {
	for name, use := range uses() {
		if strings.Contains(name, "lock") || name == "release" {
			continue // these have tests of their own
		}
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *api) {
				on := newUsed(t)
				if use.prepare != nil {
					if err := use.prepare(t.Context(), on); err != nil {
						t.Fatal(err)
					}
				}
				on.dies(on.api)
				began := time.Now()
				err := use.do(t.Context(), on)
				if err == nil || apierr.ClassOf(err) != apierr.Transient {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took < patience-10*time.Second || took > 4*patience {
					t.Errorf("told after %s", took)
				}
				if on.lease != nil {
					_ = on.lease.Release(t.Context())
				}
			})
		})
	}
}

// TestLineThatNoObjectHoldsIsRefused: before anything is sent.
func TestLineThatNoObjectHoldsIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, j := a.kept(t)
		before := w.requests()
		err := j.Append(t.Context(), "run-1", 1, append([]byte(strings.Repeat("x", longest+1)), '\n'))
		if apierr.ClassOf(err) != apierr.Terminal || err == nil || w.requests() != before {
			t.Errorf("%v after %d requests", err, w.requests()-before)
		}
		if err := j.Append(t.Context(), "run-1", 1, append([]byte(strings.Repeat("x", longest)), '\n')); err != nil {
			t.Errorf("the longest one: %v", err)
		}
	})
}

// TestNamesThatNoObjectCanHave: nothing is asked for under them.
func TestNamesThatNoObjectCanHave(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w := &wire{api: a}
		j := w.journal(t, 0)
		for _, run := range []string{"", "UPPER", "a/b", "..", "-a", "a-", strings.Repeat("x", 64), "run,a=b"} {
			var missing *journal.MissingError
			if err := j.Create(t.Context(), run); apierr.ClassOf(err) != apierr.Terminal || err == nil {
				t.Errorf("run %q was made: %v", run, err)
			}
			if err := j.PutExport(t.Context(), run, "x", nil); apierr.ClassOf(err) != apierr.Terminal || err == nil {
				t.Errorf("an export of run %q was kept: %v", run, err)
			}
			_, read := j.Read(t.Context(), run)
			_, line := j.ReadLine(t.Context(), run, 1)
			for what, err := range map[string]error{
				"read": read, "line": line, "append": j.Append(t.Context(), run, 1, []byte("x\n")),
				"delete": j.Delete(t.Context(), run),
			} {
				if !errors.As(err, &missing) || missing.Run != run {
					t.Errorf("%s of run %q: %v", what, run, err)
				}
			}
		}
		if len(w.sent) != 0 {
			t.Errorf("sent %v", w.sent)
		}
	})
}

// TestOptionsThatAreRefused: a lease of no whole seconds, a namespace that can't be one.
func TestOptionsThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		options Options
		refused bool
	}{
		"the defaults":         {Options{}, false},
		"the shortest":         {Options{Lease: ShortestLease}, false},
		"the longest":          {Options{Lease: LongestLease}, false},
		"below zero":           {Options{Lease: -time.Second}, true},
		"too short":            {Options{Lease: time.Millisecond}, true},
		"no whole seconds":     {Options{Lease: 1500 * time.Millisecond}, true},
		"too long":             {Options{Lease: LongestLease + time.Second}, true},
		"no name":              {Options{Namespace: "Not A Name"}, true},
		"a longest name":       {Options{Namespace: strings.Repeat("x", 63-len(exportsSuffix))}, false},
		"no room for -exports": {Options{Namespace: strings.Repeat("x", 63)}, true},
	} {
		j, err := New(row.options)
		if (err != nil) != row.refused || err != nil && apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("%s: %v", name, err)
		}
		if name == "the defaults" && (j.Where() != "namespace salve-system of the cluster" || j.lease != DefaultLease) {
			t.Errorf("%s: %s, %s", name, j.Where(), j.lease)
		}
	}
	if got := Namespaces(""); !slices.Equal(got, []string{"salve-system", "salve-system-exports"}) {
		t.Errorf("namespaces %v", got)
	}
	if got := Namespaces("x"); !slices.Equal(got, []string{"x", "x-exports"}) {
		t.Errorf("namespaces %v", got)
	}
}

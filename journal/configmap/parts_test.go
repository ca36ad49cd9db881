package configmap

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

const partPath = "/api/v1/namespaces/journal/configmaps/run-run-1-"

// kept is a journal with a run of some lines, and its wire.
func (a *api) kept(t *testing.T, lines ...string) (*wire, *Journal) {
	t.Helper()
	w := &wire{api: a}
	j := w.journal(t, 0)
	if err := j.Create(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		if err := j.Append(t.Context(), "run-1", i+1, []byte(line+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	return w, j
}

// half fills half a part.
func half(name string) string { return name + strings.Repeat("x", 1<<9) }

func (j *Journal) read(t *testing.T) string {
	t.Helper()
	lines, err := j.Read(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range lines {
		all = append(all, strings.TrimRight(string(line), "x"))
	}
	return strings.Join(all, " ")
}

// TestAppendCostsOneRequest: once the end of the record is known.
func TestAppendCostsOneRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, j := a.kept(t, "one")
		before := w.requests()
		if err := j.Append(t.Context(), "run-1", 2, []byte("two\n")); err != nil || w.requests() != before+1 {
			t.Errorf("%v, %v", err, w.sent[before:])
		}
		if got := w.journal(t, 0).read(t); got != "one two" {
			t.Errorf("read %q", got)
		}
	})
}

// TestLineIsWrittenOnceAndInItsPlace: whatever the writer believes of the record.
func TestLineIsWrittenOnceAndInItsPlace(t *testing.T) {
	for name, row := range map[string]struct {
		seq     int
		line    string
		refused string
	}{
		"the next one":          {3, "three", ""},
		"the last one again":    {2, "two", ""},
		"an old one again":      {1, "one", ""},
		"another last one":      {2, "zwei", "another runner wrote this line"},
		"another old one":       {1, "eins", "another runner wrote this line"},
		"one with a gap before": {4, "four", "the record ends at line 2"},
		"one before the first":  {0, "zero", "another runner wrote this line"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				_, j := a.kept(t, "one", "two")
				fresh := (&wire{api: a}).journal(t, 0)
				for who, writer := range map[string]*Journal{"the writer": j, "another process": fresh} {
					err := writer.Append(t.Context(), "run-1", row.seq, []byte(row.line+"\n"))
					if row.refused == "" && err != nil {
						t.Errorf("%s: %v", who, err)
					}
					if row.refused != "" && (apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), row.refused)) {
						t.Errorf("%s: %v", who, err)
					}
				}
				want := "one two"
				if row.line == "three" {
					want += " three"
				}
				if got := j.read(t); got != want {
					t.Errorf("the record is %q", got)
				}
			})
		})
	}
}

// TestWriterThatDoesNotKnowTheEndIsRefused: of two that believe that theirs is the next
// line, the second one is told.
func TestWriterThatDoesNotKnowTheEndIsRefused(t *testing.T) {
	for name, row := range map[string]struct{ first, theirs, ours, want string }{
		"in the same part":     {"one", "two", "zwei", "one two"},
		"in a part of its own": {half("one"), half("two"), "zwei", "one two"},
		"where both begin one": {half("one"), half("two"), half("zwei"), "one two"},
		"with the same line":   {"one", "two", "two", "one two"},
		"in a long first part": {half("one"), "two", half("zwei"), "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				_, stale := a.kept(t, row.first)
				other := (&wire{api: a}).journal(t, 0)
				if err := other.Append(t.Context(), "run-1", 2, []byte(row.theirs+"\n")); err != nil {
					t.Fatal(err)
				}
				err := stale.Append(t.Context(), "run-1", 2, []byte(row.ours+"\n"))
				if row.ours == row.theirs {
					if err != nil {
						t.Errorf("the same line: %v", err)
					}
				} else if apierr.ClassOf(err) != apierr.Conflict || err == nil {
					t.Errorf("got %v", err)
				}
				if got := other.read(t); got != row.want {
					t.Errorf("the record is %q", got)
				}
			})
		})
	}
}

// TestLineIsFoundBehindANewPart: the answer was lost, and another process has begun a
// part since.
func TestLineIsFoundBehindANewPart(t *testing.T) {
	for line, refused := range map[string]bool{"two": false, "zwei": true} {
		inBubble(t, func(t *testing.T, a *api) {
			w, j := a.kept(t, "one")
			began := false
			w.meets = func(request *http.Request) fate {
				if request.Method == http.MethodPatch {
					return unheard
				}
				if !began {
					began = true
					first := a.objects[partPath+"1"]
					first.Immutable, first.Data = true, map[string]any{"000001": "one", "000002": line}
					a.store(partPath+"1", first)
					a.store(partPath+"2", object{Metadata: metadata{Name: "run-run-1-2"}, Data: map[string]any{"000003": "three"}})
				}
				return served
			}
			err := j.Append(t.Context(), "run-1", 2, []byte("two\n"))
			if refused && apierr.ClassOf(err) != apierr.Conflict || (err != nil) != refused {
				t.Errorf("after %q: %v", line, err)
			}
			if got := j.read(t); got != "one "+line+" three" {
				t.Errorf("the record is %q", got)
			}
		})
	}
}

// TestFullPartTakesNoFurtherLine: it is made immutable before the next one is made, and
// what its writer left when it died is gone on with.
func TestFullPartTakesNoFurtherLine(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		_, j := a.kept(t, half("one"), half("two"), "three")
		first, second := a.objects[partPath+"1"], a.objects[partPath+"2"]
		if !first.Immutable || second.Immutable || len(first.Data) != 1 || len(second.Data) != 2 {
			t.Errorf("the first is immutable: %v, with %d lines; the second %v, with %d", first.Immutable, len(first.Data),
				second.Immutable, len(second.Data))
		}
		want := metadata{Labels: map[string]string{ownerLabel: ownerName, runLabel: "run-1", partLabel: "2"}}
		if !maps.Equal(second.Metadata.Labels, want.Labels) {
			t.Errorf("labels %v", second.Metadata.Labels)
		}
		// It died between closing the first part and making the second.
		a.mu.Lock()
		delete(a.objects, partPath+"2")
		a.mu.Unlock()
		for _, writer := range []*Journal{(&wire{api: a}).journal(t, 0), j} {
			if err := writer.Append(t.Context(), "run-1", 2, []byte("zwei\n")); err != nil {
				t.Errorf("going on: %v", err)
			}
		}
		if got := j.read(t); got != "one zwei" {
			t.Errorf("the record is %q", got)
		}
	})
}

// TestLineIsReadFromItsPart: with one request, once it is known where the parts begin.
func TestLineIsReadFromItsPart(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		a.kept(t, half("one"), half("two"), "three", half("four"))
		w := &wire{api: a}
		j := w.journal(t, 0)
		if got := j.read(t); got != "one two three four" {
			t.Fatalf("read %q", got)
		}
		for seq, want := range map[int]struct{ line, part string }{1: {"one", "1"}, 2: {"two", "2"}, 3: {"three", "2"},
			4: {"four", "3"}} {
			before := w.requests()
			line, err := j.ReadLine(t.Context(), "run-1", seq)
			if err != nil || strings.TrimRight(string(line), "x") != want.line {
				t.Errorf("line %d is %.10s, %v", seq, line, err)
			}
			if sent := w.sent[before:]; len(sent) != 1 || sent[0] != "GET "+partPath+want.part {
				t.Errorf("line %d: %v", seq, sent)
			}
		}
		var broken *journal.BrokenError
		for _, seq := range []int{-1, 0, 5, 9} {
			if line, err := j.ReadLine(t.Context(), "run-1", seq); !errors.As(err, &broken) || broken.Line != seq {
				t.Errorf("line %d is %.10s, %v", seq, line, err)
			}
		}
		// Another process began another part, and this one does not know of it.
		other := (&wire{api: a}).journal(t, 0)
		if err := other.Append(t.Context(), "run-1", 5, []byte(half("five")+"\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := j.ReadLine(t.Context(), "run-1", 5); err == nil && !strings.HasPrefix(string(line), "five") {
			t.Errorf("line 5 is %.10s", line)
		}
		// A writer that begins a part finds its line there.
		if err := j.Append(t.Context(), "run-1", 6, []byte(half("six")+"\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := j.ReadLine(t.Context(), "run-1", 6); err != nil || !strings.HasPrefix(string(line), "six") {
			t.Errorf("line 6 is %.10s, %v", line, err)
		}
		a.edit(t, partPath+"2", func(o *object) { o.Immutable = false; delete(o.Data, "000002") })
		if line, err := j.ReadLine(t.Context(), "run-1", 2); !errors.As(err, &broken) || broken.Line != 2 {
			t.Errorf("a line that was removed is %.10s, %v", line, err)
		}
		a.mu.Lock()
		delete(a.objects, partPath+"1")
		a.mu.Unlock()
		var missing *journal.MissingError
		if line, err := j.ReadLine(t.Context(), "run-1", 1); !errors.As(err, &missing) ||
			apierr.ClassOf(err) != apierr.Missing {
			t.Errorf("of a part that is gone, the line is %.10s, %v", line, err)
		}
	})
}

// TestPartsThatSomebodyTouchedAreBroken: and said so, whatever is asked of them.
func TestPartsThatSomebodyTouchedAreBroken(t *testing.T) {
	for name, spoil := range map[string]func(*object){
		"a key that is no number": func(o *object) { o.Data["one"] = "x" },
		"a line zero":             func(o *object) { o.Data["000000"] = "x" },
		"a line below zero":       func(o *object) { o.Data["-1"] = "x" },
	} {
		inBubble(t, func(t *testing.T, a *api) {
			a.kept(t, "one", "two")
			a.edit(t, partPath+"1", spoil)
			j := (&wire{api: a}).journal(t, 0)
			var broken *journal.BrokenError
			if _, err := j.Read(t.Context(), "run-1"); !errors.As(err, &broken) || broken.Run != "run-1" {
				t.Errorf("%s: read: %v", name, err)
			}
			if err := j.Append(t.Context(), "run-1", 3, []byte("three\n")); !errors.As(err, &broken) {
				t.Errorf("%s: added to: %v", name, err)
			}
			if runs, err := j.Runs(t.Context()); err != nil || len(runs) != 1 {
				t.Errorf("%s: listed: %v, %v", name, runs, err)
			}
			if err := j.Delete(t.Context(), "run-1"); err != nil {
				t.Errorf("%s: deleted: %v", name, err)
			}
		})
	}
	inBubble(t, func(t *testing.T, a *api) {
		_, j := a.kept(t, half("one"), half("two"), half("three"))
		a.mu.Lock()
		a.objects[partPath+"2"] = object{Metadata: metadata{Name: "run-run-1-2", ResourceVersion: "7"}, Immutable: true}
		a.mu.Unlock()
		var broken *journal.BrokenError
		if _, err := j.Read(t.Context(), "run-1"); !errors.As(err, &broken) || broken.Line != 2 {
			t.Errorf("a part that was emptied: %v", err)
		}
	})
}

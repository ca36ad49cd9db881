package configmap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/journal"
)

// used is a journal that holds a run of two parts with an export, a key, and a lease on
// lamp/1 whose holder released it. Its process knows nothing of that yet.
type used struct {
	*Journal
	*wire
	lease journal.Lease
}

// bulk is an export that takes two Secrets.
var bulk = sync.OnceValue(func() []byte {
	data := make([]byte, 3<<9) // which doesn't compress
	_, _ = rand.New(rand.NewSource(1)).Read(data)
	return data
})

var template sync.Map

func newUsed(t *testing.T) *used {
	t.Helper()
	if _, made := template.Load("objects"); !made {
		template.Store("objects", makeUsed(t))
	}
	kept, _ := template.Load("objects")
	w := &wire{api: &api{objects: maps.Clone(kept.(map[string]object)), version: 1000}}
	return &used{Journal: w.journal(t, 0), wire: w}
}

func makeUsed(t *testing.T) map[string]object {
	t.Helper()
	w := &wire{api: newAPI("journal", "journal-exports", "kube-system")}
	j, ctx, long := w.journal(t, 0), t.Context(), strings.Repeat("x", 600)
	_, made := j.MakeKey(ctx, "mend")
	err := errors.Join(made, j.Create(ctx, "run-1"), j.Append(ctx, "run-1", 1, []byte("one"+long+"\n")),
		j.Append(ctx, "run-1", 2, []byte("two"+long+"\n")), j.Append(ctx, "run-1", 3, []byte("three\n")),
		j.PutExport(ctx, "run-1", "bundle", bulk()))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := j.Lock(ctx, journal.Claim{Target: "lamp/1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	return w.objects
}

// use is something that is asked of a journal. It leaves no lease behind.
type use struct {
	// prepare happens before a request fails.
	prepare, do func(context.Context, *used) error
	// patient is how many requests are told to be forbidden. Those behind them are a
	// holder's, which asks again: an API server that has just begun may not know of
	// any rights yet. Zero stands for all.
	patient int
}

// lock takes the lease on lamp/1.
func (u *used) lock(ctx context.Context) error {
	lease, err := u.Lock(ctx, journal.Claim{Target: "lamp/1"})
	u.lease = lease
	return err
}

func uses() map[string]use {
	released := func(ctx context.Context, u *used, err error) error {
		if u.lease == nil {
			return err
		}
		return errors.Join(err, u.lease.Release(ctx))
	}
	locked := func(ctx context.Context, u *used) error { return u.lock(ctx) }
	return map[string]use{
		"create": {do: func(ctx context.Context, u *used) error { return u.Create(ctx, "run-2") }},
		"create, no folder": {prepare: withoutNamespaces,
			do: func(ctx context.Context, u *used) error { return u.Create(ctx, "run-2") }},
		"append": {do: func(ctx context.Context,
			u *used) error {
			return u.Append(ctx, "run-1", 4, []byte("four\n"))
		}},
		"append, known": {
			prepare: func(ctx context.Context, u *used) error { return u.Append(ctx, "run-1", 3, []byte("three\n")) },
			do:      func(ctx context.Context, u *used) error { return u.Append(ctx, "run-1", 4, []byte("four\n")) },
		},
		"append, another part": {
			do: func(ctx context.Context, u *used) error {
				return u.Append(ctx, "run-1", 4, bytes.Repeat([]byte{'x'}, 1<<10))
			},
		},
		"read": {do: func(ctx context.Context, u *used) error {
			lines, err := u.Read(ctx, "run-1")
			return errors.Join(err, count(3, lines))
		}},
		"read a line": {do: func(ctx context.Context, u *used) error {
			line, err := u.ReadLine(ctx, "run-1", 3)
			return errors.Join(err, same("three", string(line)))
		}},
		"list": {do: func(ctx context.Context, u *used) error {
			runs, err := u.Runs(ctx)
			return errors.Join(err, same("[run-1]", fmt.Sprint(runs)))
		}},
		"export": {do: func(ctx context.Context,
			u *used) error {
			return u.PutExport(ctx, "run-2", "bundle", bulk())
		}},
		"export again": {do: func(ctx context.Context,
			u *used) error {
			return u.PutExport(ctx, "run-1", "bundle", bulk())
		}},
		"export, no folder": {prepare: withoutNamespaces,
			do: func(ctx context.Context, u *used) error { return u.PutExport(ctx, "run-1", "other", nil) }},
		"read an export": {do: func(ctx context.Context, u *used) error {
			data, err := u.Export(ctx, "run-1", "bundle")
			return errors.Join(err, same(string(bulk()), string(data)))
		}},
		"delete": {do: func(ctx context.Context, u *used) error { return u.Delete(ctx, "run-1") }},
		"key": {do: func(ctx context.Context, u *used) error {
			_, err := u.Key(ctx, "mend")
			return err
		}},
		"make a key": {do: func(ctx context.Context, u *used) error {
			_, err := u.MakeKey(ctx, "break")
			return err
		}},
		"make a key, no folder": {prepare: withoutNamespaces, do: func(ctx context.Context, u *used) error {
			_, err := u.MakeKey(ctx, "break")
			return err
		}},
		"lock": {patient: 2, do: func(ctx context.Context, u *used) error { return released(ctx, u, u.lock(ctx)) }},
		"lock a new one": {patient: 2, do: func(ctx context.Context, u *used) error {
			lease, err := u.Lock(ctx, journal.Claim{Target: "lamp/2"})
			u.lease = lease
			return released(ctx, u, err)
		}},
		"lock, no folder": {patient: 4, prepare: withoutNamespaces,
			do: func(ctx context.Context, u *used) error { return released(ctx, u, u.lock(ctx)) }},
		"name a run": {prepare: locked, patient: -1, do: func(ctx context.Context, u *used) error {
			return released(ctx, u, u.lease.SetOpenRun(ctx, journal.OpenRun{Run: "run-1", Seq: 3}))
		}},
		"release": {prepare: locked, patient: -1, do: func(ctx context.Context,
			u *used) error {
			return released(ctx, u, nil)
		}},
		"peek": {do: func(ctx context.Context, u *used) error {
			peeked, err := u.Peek(ctx, "lamp/1")
			return errors.Join(err, same("1", fmt.Sprint(peeked.Epoch)))
		}},
		"identity": {do: func(ctx context.Context, u *used) error {
			id, err := u.ID(ctx)
			return errors.Join(err, same("namespace journal of cluster uid-of-kube-system", id))
		}},
	}
}

func withoutNamespaces(_ context.Context, u *used) error {
	maps.DeleteFunc(u.objects, func(path string, _ object) bool { return strings.Contains(path, "/namespaces/journal") })
	u.tails, u.firsts = map[string]*part{}, map[string][]int{}
	return nil
}

func same(want, got string) error {
	if want != got {
		return fmt.Errorf("got %.80q, want %.80q", got, want)
	}
	return nil
}

func count(want int, lines [][]byte) error { return same(fmt.Sprint(want), fmt.Sprint(len(lines))) }

// left is what an API server holds, but for what no two runs have in common.
func (a *api) left() map[string]string {
	left := map[string]string{}
	for path, kept := range a.objects {
		kept.Metadata.UID, kept.Metadata.ResourceVersion = "", ""
		if strings.Contains(path, keyPrefix) {
			kept.Data = nil
		}
		spec := maps.Clone(kept.Spec)
		for _, chance := range []string{"renewTime", "acquireTime", "holderIdentity"} {
			if spec[chance] != nil {
				spec[chance] = "set"
			}
		}
		kept.Spec = spec
		left[path] = fmt.Sprintf("%+v", kept)
	}
	return left
}

// run does it with one request that meets a fate, and gives what becomes of it.
func (u use) run(t *testing.T, n int, meets fate) (left map[string]string, met string, after int, err error) {
	t.Helper()
	on := newUsed(t)
	if u.prepare != nil {
		if err := u.prepare(t.Context(), on); err != nil {
			t.Fatal(err)
		}
	}
	on.sent = nil
	on.meets = func(request *http.Request) fate {
		if len(on.sent) == n+1 {
			met = request.Method + " " + request.URL.Path
			return meets
		}
		return served
	}
	err = u.do(t.Context(), on)
	on.meets = nil
	return on.left(), met, len(on.sent) - n - 1, err
}

// TestWhateverARequestMeets: what was asked for is done, once.
func TestWhateverARequestMeets(t *testing.T) {
	for name, use := range uses() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want, _, _, err := use.run(t, -1, served)
				if err != nil {
					t.Fatal(err)
				}
				for _, meets := range []fate{unsent, unheard, busy, throttled} {
					for n := 0; ; n++ {
						left, met, _, err := use.run(t, n, meets)
						if met == "" {
							break
						}
						if err != nil {
							t.Errorf("request %d (%s) is %s: %v", n, met, meets, err)
						}
						if !maps.Equal(left, want) {
							t.Errorf("request %d (%s) is %s: %s", n, met, meets, differences(left, want))
						}
					}
				}
			})
		})
	}
}

func differences(got, want map[string]string) string {
	var all []string
	for path := range got {
		if got[path] != want[path] {
			all = append(all, fmt.Sprintf("%s is %.300s", path, got[path]))
		}
	}
	for path := range want {
		if _, found := got[path]; !found {
			all = append(all, path+" is missing")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// TestWhatIsForbiddenIsToldAtOnce: and not asked for again.
func TestWhatIsForbiddenIsToldAtOnce(t *testing.T) {
	for name, use := range uses() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for n := 0; ; n++ {
					began := time.Now()
					_, met, after, err := use.run(t, n, forbidden)
					if met == "" {
						break
					}
					asksAgain := use.patient != 0 && n >= use.patient
					if asksAgain != (err == nil) || err != nil && apierr.ClassOf(err) != apierr.Denied {
						t.Errorf("request %d (%s) is forbidden: %v", n, met, err)
					}
					if took := time.Since(began); took > time.Second || after > 3 {
						t.Errorf("request %d (%s) is forbidden: told after %s and %d requests", n, met, took, after)
					}
				}
			})
		})
	}
}

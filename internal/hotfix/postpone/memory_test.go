//go:build linux

package postpone_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/postpone"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// node is the memory of one, and its clock.
type node struct {
	postpone.Memory
	clock *clocktesting.FakeClock
}

func newNode(t *testing.T) node {
	t.Helper()
	clock := clocktesting.NewFakeClock(noon)
	return node{postpone.Memory{Path: filepath.Join(t.TempDir(), "state", "postponed.json"), Clock: clock}, clock}
}

func (n node) putOff(asked postpone.Asked) bool {
	_, putOff := n.Find(asked)
	return putOff
}

var program = postpone.Asked{What: "program", Target: "202604.01.2", Source: "https://a/b 0123", Pointer: "4567"}

func TestAFailureIsPutOff(t *testing.T) {
	n := newNode(t)
	if n.putOff(program) {
		t.Error("it is put off before it failed")
	}
	check(t, n.Failed(program, "unreachable", "connection refused"))
	failure, putOff := n.Find(program)
	if !putOff || failure.Outcome != "unreachable" || failure.Problem != "connection refused" || failure.Failures != 1 ||
		failure.Target != "202604.01.2" || !failure.Last.Equal(noon) {
		t.Errorf("put off %t: %+v", putOff, failure)
	}
	n.clock.SetTime(failure.Until.Add(-time.Second))
	if !n.putOff(program) {
		t.Error("it is not put off to the end of the pause")
	}
	n.clock.SetTime(failure.Until)
	if failure, putOff := n.Find(program); putOff || failure.Failures != 1 {
		t.Errorf("after the pause: put off %t, %+v", putOff, failure)
	}
}

func TestWhatIsAskedForIsNoOther(t *testing.T) {
	for title, change := range map[string]func(*postpone.Asked){
		"another target":  func(a *postpone.Asked) { a.Target = "202604.01.3" },
		"another source":  func(a *postpone.Asked) { a.Source = "https://a/b 4567" },
		"another pointer": func(a *postpone.Asked) { a.Pointer = "89ab" },
		"the scripts":     func(a *postpone.Asked) { a.What = "scripts" },
		"the same letters in other places": func(a *postpone.Asked) {
			a.Target, a.Source = "202604.01.", "2https://a/b 0123"
		},
	} {
		t.Run(title, func(t *testing.T) {
			n := newNode(t)
			check(t, n.Failed(program, "unreachable", ""))
			other := program
			change(&other)
			if n.putOff(other) {
				t.Error("it is put off")
			}
			check(t, n.Failed(other, "denied", ""))
			if got, want := n.putOff(program), title == "the scripts"; got != want {
				t.Errorf("the first is put off: %t, want %t", got, want)
			}
		})
	}
}

func TestPausesGrowToADay(t *testing.T) {
	n := newNode(t)
	before := time.Duration(0)
	for i := range 12 {
		check(t, n.Failed(program, "unreachable", ""))
		failure, _ := n.Find(program)
		pause := failure.Until.Sub(failure.Last)
		if failure.Failures != i+1 || pause < 7*time.Minute || pause > 30*time.Hour || (i < 4 && pause <= before) {
			t.Errorf("failure %d: %s after %s", i+1, pause, before)
		}
		before = pause
		n.clock.SetTime(failure.Until)
	}
	if before < 18*time.Hour {
		t.Errorf("the longest pause is %s", before)
	}
}

func TestNodesDoNotComeBackTogether(t *testing.T) {
	ends := map[time.Time]bool{}
	for range 20 {
		n := newNode(t)
		check(t, n.Failed(program, "unreachable", ""))
		failure, _ := n.Find(program)
		ends[failure.Until] = true
	}
	if len(ends) < 10 {
		t.Errorf("20 nodes come back at %d moments", len(ends))
	}
}

func TestSuccessIsForgottenFailure(t *testing.T) {
	n := newNode(t)
	scripts := program
	scripts.What = "scripts"
	check(t, n.Failed(program, "unreachable", ""))
	check(t, n.Failed(scripts, "unreachable", ""))
	check(t, n.Forget("program"))
	if n.putOff(program) || !n.putOff(scripts) {
		t.Error("the program is put off, or the scripts are not")
	}
	if failure, _ := n.Find(program); failure.Failures != 0 {
		t.Errorf("%+v", failure)
	}
}

// TestClocksThatAreWrong lock nobody out.
func TestClocksThatAreWrong(t *testing.T) {
	for title, row := range map[string]struct {
		failed, then time.Time
		putOff       bool
	}{
		"it jumps back":                     {noon, noon.Add(-time.Hour), false},
		"it jumps back to 1970":             {noon, time.Unix(10, 0), false},
		"it had been in 2106":               {time.Date(2106, 2, 7, 6, 28, 15, 0, time.UTC), noon, false},
		"it jumps to 2106":                  {noon, time.Date(2106, 2, 7, 6, 28, 15, 0, time.UTC), false},
		"it is right again after 1970":      {time.Unix(10, 0), noon, false},
		"it begins at 1970 at each boot":    {time.Unix(10, 0), time.Unix(12, 0), true},
		"it stands still":                   {noon, noon, true},
		"it goes on as it should, a little": {noon, noon.Add(time.Minute), true},
	} {
		t.Run(title, func(t *testing.T) {
			n := newNode(t)
			n.clock.SetTime(row.failed)
			check(t, n.Failed(program, "unreachable", ""))
			n.clock.SetTime(row.then)
			if got := n.putOff(program); got != row.putOff {
				t.Errorf("put off: %t", got)
			}
			boots := 1
			for ; n.putOff(program); boots++ {
				if boots > 100 {
					t.Fatal("it is put off for ever")
				}
			}
			if row.putOff && boots < 10 {
				t.Errorf("it is put off for %d boots", boots)
			}
		})
	}
}

// TestWhatCanNotBeRead is as if there were nothing, and is mended.
func TestWhatCanNotBeRead(t *testing.T) {
	for title, spoil := range map[string]func(t *testing.T, path string){
		"nothing":         func(t *testing.T, path string) { check(t, os.WriteFile(path, nil, 0o600)) },
		"no JSON":         func(t *testing.T, path string) { check(t, os.WriteFile(path, []byte("{"), 0o600)) },
		"another version": func(t *testing.T, path string) { replace(t, path, `"schemaVersion": 1`, `"schemaVersion": 2`) },
		"a pause without end": func(t *testing.T, path string) {
			replace(t, path, `"until": "2026`, `"until": "2126`)
		},
		"too large": func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte(strings.Repeat(" ", 1<<20)), 0o600))
		},
		"a link": func(t *testing.T, path string) {
			check(t, os.Rename(path, path+"2"))
			check(t, os.Symlink(path+"2", path))
		},
		"a folder": func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Mkdir(path, 0o755))
		},
	} {
		t.Run(title, func(t *testing.T) {
			n := newNode(t)
			check(t, n.Failed(program, "unreachable", ""))
			spoil(t, n.Path)
			if n.putOff(program) {
				t.Error("it is put off")
			}
			if title == "a folder" {
				return
			}
			check(t, n.Failed(program, "unreachable", ""))
			if !n.putOff(program) {
				t.Error("what can't be read is in the way")
			}
		})
	}
}

// TestWhatCanNotBeCountedIsNotPutOff: it would have no end.
func TestWhatCanNotBeCountedIsNotPutOff(t *testing.T) {
	n := newNode(t)
	check(t, n.Failed(program, "unreachable", ""))
	check(t, os.Mkdir(filepath.Join(filepath.Dir(n.Path), ".postponed.json.part"), 0o755))
	check(t, os.WriteFile(filepath.Join(filepath.Dir(n.Path), ".postponed.json.part", "x"), nil, 0o600))
	if n.putOff(program) {
		t.Error("it is put off")
	}
}

func TestTheMemoryIsSmall(t *testing.T) {
	n := newNode(t)
	for range 100 {
		for _, what := range []string{"program", "scripts"} {
			asked := postpone.Asked{What: what, Target: strings.Repeat("t", 1<<16), Source: strings.Repeat("s", 1<<20)}
			check(t, n.Failed(asked, strings.Repeat("o", 1<<16), strings.Repeat("\x01", 1<<20)))
			if !n.putOff(asked) {
				t.Fatal("it is not put off")
			}
		}
	}
	if info, err := os.Stat(n.Path); err != nil || info.Size() > 64<<10 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestAFailureIsDurable: after a power cut it is there or not, and when it was
// reported it is.
func TestAFailureIsDurable(t *testing.T) {
	n := newNode(t)
	folder := filepath.Dir(n.Path)
	check(t, os.MkdirAll(folder, 0o755))
	power := hotfixtest.RecordPower(t, folder)
	n.Trace = power.Trace()
	check(t, n.Failed(program, "unreachable", ""))
	ends := map[bool]int{}
	for _, cut := range power.Cuts() {
		restored := t.TempDir()
		cut.Restore(t, restored)
		again := n
		again.Path, again.Trace.Before, again.Trace.Sync = filepath.Join(restored, "postponed.json"), nil, nil
		putOff := again.putOff(program)
		if ends[putOff]++; strings.Contains(cut.At, "the end") && !putOff {
			t.Errorf("%s: it is forgotten", cut.At)
		}
	}
	if ends[true] < 1 || ends[false] < 3 {
		t.Errorf("the cuts were not all over the place: %v", ends)
	}
}

func replace(t *testing.T, path, old, other string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	check(t, err)
	if !strings.Contains(string(raw), old) {
		t.Fatalf("%s is not in %s", old, raw)
	}
	check(t, os.WriteFile(path, []byte(strings.Replace(string(raw), old, other, 1)), 0o600))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

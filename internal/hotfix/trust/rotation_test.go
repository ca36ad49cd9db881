package trust_test

import (
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/trust"
)

// withPointerKeys is root 2, where others sign pointers.
func withPointerKeys(version int64, names ...string) trust.Root {
	root := rootOf(version)
	root.Pointer = role(1, names...)
	return root
}

// TestRotation: which roots a node goes on to, and whose pointers count then.
func TestRotation(t *testing.T) {
	newPeople := rootOf(2)
	newPeople.Root = role(2, "dave", "erin")
	for name, row := range map[string]struct {
		change func(t *testing.T, w *world)
		reason hotfix.Reason
		says   string
	}{
		"new keys for pointers": {change: func(t *testing.T, w *world) {
			w.bundle = trust.Bundle{Pointer: signedPointer(t, document(8), "new-ci"),
				Roots: roots{signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "carol")}}
		}},
		"old keys for pointers are out": {reason: hotfix.ReasonUntrusted, says: "the pointer by root 2: 0 of the 1 keys",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "carol")}
			}},
		"new keys for roots, signed by old and new": {change: func(t *testing.T, w *world) {
			w.bundle.Roots = roots{signedRoot(t, newPeople, "alice", "bob", "dave", "erin")}
		}},
		"half done: signed by the old keys only": {reason: hotfix.ReasonUntrusted,
			says: "roots: root 2 by the keys of root 2: 0 of the 2 keys that are needed have signed",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, newPeople, "alice", "bob", "carol")}
			}},
		"half done: signed by the new keys only": {reason: hotfix.ReasonUntrusted,
			says: "roots: root 2 by the keys of root 1: 0 of the 2 keys",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, newPeople, "dave", "erin")}
			}},
		"half done: one of the old keys is missing": {reason: hotfix.ReasonUntrusted,
			says: "root 2 by the keys of root 1: 1 of the 2 keys that are needed have signed: alice",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, newPeople, "alice", "dave", "erin")}
			}},
		"half done: one of the new keys is missing": {reason: hotfix.ReasonUntrusted,
			says: "root 2 by the keys of root 2: 1 of the 2 keys that are needed have signed: dave",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, newPeople, "alice", "bob", "dave")}
			}},
		"a key that stays counts for both": {change: func(t *testing.T, w *world) {
			stays := rootOf(2)
			stays.Root = role(2, "alice", "dave")
			w.bundle.Roots = roots{signedRoot(t, stays, "alice", "bob", "dave")}
		}},
		"a lower threshold needs the old one": {reason: hotfix.ReasonUntrusted,
			says: "root 2 by the keys of root 1: 1 of the 2 keys",
			change: func(t *testing.T, w *world) {
				lower := rootOf(2)
				lower.Root.Threshold = 1
				w.bundle.Roots = roots{signedRoot(t, lower, "alice")}
			}},
		"a pointer's key can't sign roots": {reason: hotfix.ReasonUntrusted,
			says: "root 2 by the keys of root 1: 0 of the 2 keys",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, rootOf(2), "ci", "backup")}
			}},
		"three at once": {change: func(t *testing.T, w *world) {
			w.bundle.Roots = roots{signedRoot(t, rootOf(2), "alice", "bob"), signedRoot(t, rootOf(3), "bob", "carol"),
				signedRoot(t, rootOf(4), "alice", "carol")}
		}},
		"one is skipped": {reason: hotfix.ReasonUntrusted, says: "root 3 can't follow root 1: every one in between is needed",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, rootOf(3), "alice", "bob")}
			}},
		"in another order": {reason: hotfix.ReasonUntrusted, says: "root 3 can't follow root 1",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, rootOf(3), "alice", "bob"), signedRoot(t, rootOf(2), "alice", "bob")}
			}},
		"the last one is bad": {reason: hotfix.ReasonUntrusted, says: "root 3 by the keys of root 2: 1 of the 2 keys",
			change: func(t *testing.T, w *world) {
				w.bundle.Roots = roots{signedRoot(t, rootOf(2), "alice", "bob"), signedRoot(t, rootOf(3), "alice")}
			}},
		"rollback: a root that was seen is left out": {reason: hotfix.ReasonUntrusted,
			says: "the pointer by root 2: 0 of the 1 keys",
			change: func(t *testing.T, w *world) {
				stolen := w.bundle
				w.deliver(t, signedPointer(t, document(8), "new-ci"), signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "bob"))
				stolen.Pointer = signedPointer(t, document(9), "ci")
				w.bundle = stolen
			}},
		"a root that was seen counts without being delivered again": {change: func(t *testing.T, w *world) {
			w.deliver(t, signedPointer(t, document(8), "new-ci"), signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "bob"))
			w.bundle = trust.Bundle{Pointer: signedPointer(t, document(9), "new-ci")}
		}},
		"rollback: another root 2, also signed": {reason: hotfix.ReasonUntrusted,
			says: "the pointer by root 2: 0 of the 1 keys",
			change: func(t *testing.T, w *world) {
				w.deliver(t, signedPointer(t, document(8), "new-ci"), signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "bob"))
				w.bundle = trust.Bundle{Pointer: signedPointer(t, document(9), "ci"),
					Roots: roots{signedRoot(t, rootOf(2), "alice", "bob")}}
			}},
		"a root is remembered though the pointer beside it is refused": {reason: hotfix.ReasonUntrusted,
			says: "the pointer by root 2",
			change: func(t *testing.T, w *world) {
				w.bundle = trust.Bundle{Pointer: signedPointer(t, document(8), "mallory"),
					Roots: roots{signedRoot(t, withPointerKeys(2, "new-ci"), "alice", "bob")}}
				if _, err := w.follow(t); err == nil {
					t.Error("it is followed")
				}
				w.bundle = trust.Bundle{Pointer: signedPointer(t, document(8), "ci")}
			}},
		"the image has a newer root than what is delivered": {change: func(t *testing.T, w *world) {
			w.configured = signedRoot(t, rootOf(3), "alice", "bob")
			w.bundle.Roots = roots{signedRoot(t, rootOf(2), "alice", "bob"), signedRoot(t, rootOf(3), "alice", "bob")}
		}},
		"the configured root is over, the next one is not": {change: func(t *testing.T, w *world) {
			over := rootOf(1)
			over.Expires = issued.Add(-time.Hour)
			w.configured = signedRoot(t, over, "alice", "bob")
			w.bundle.Roots = roots{signedRoot(t, rootOf(2), "alice", "bob")}
		}},
		"the newest root is over": {reason: hotfix.ReasonExpired,
			says: "root 2 expired at 2026-04-01T12:30:00Z. hint: publish the next root",
			change: func(t *testing.T, w *world) {
				over := rootOf(2)
				over.Expires = issued.Add(30 * time.Minute)
				w.bundle.Roots = roots{signedRoot(t, over, "alice", "bob")}
			}},
		"the configured root is not signed by its own keys": {reason: hotfix.ReasonUnusableRoot,
			says:   "it is not signed by its own keys yet: 1 of the 2 keys",
			change: func(t *testing.T, w *world) { w.configured = signedRoot(t, rootOf(1), "alice", "alice") }},
		"the configured root is a pointer": {reason: hotfix.ReasonUnusableRoot, says: "is wanted here",
			change: func(_ *testing.T, w *world) { w.configured = w.bundle.Pointer }},
		"more than a node keeps": {reason: hotfix.ReasonUntrusted,
			says: "there are more than 64 after root 1, which the node has. hint: give nodes a newer root",
			change: func(t *testing.T, w *world) {
				var roots roots
				for version := int64(2); version <= 66; version++ {
					roots = append(roots, signedRoot(t, rootOf(version), "alice", "bob"))
				}
				w.deliver(t, w.bundle.Pointer, roots[:40]...)
				w.bundle.Roots = roots[40:]
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			row.change(t, w)
			if row.reason != "" {
				w.memory.Counter, w.memory.Digest = 0, ""
			}
			expectRefused(t, w, row.reason, row.says)
		})
	}
}

// TestTheCounterAcrossRoots: it goes on as long as any key is left that could have signed it, and begins anew when the
// owner has taken them all out: a stolen key may have used up the numbers.
func TestTheCounterAcrossRoots(t *testing.T) {
	const highest = 1<<53 - 1
	next := func(t *testing.T, version int64, names ...string) trust.Envelope {
		return signedRoot(t, withPointerKeys(version, names...), "alice", "bob")
	}
	for name, row := range map[string]struct {
		roots   func(t *testing.T) roots
		signer  string
		counter int64
		reason  hotfix.Reason
	}{
		"all keys are new": {signer: "new-ci", counter: 1,
			roots: func(t *testing.T) roots { return roots{next(t, 2, "new-ci")} }},
		"one key stays": {signer: "new-ci", counter: 1, reason: hotfix.ReasonReplayed,
			roots: func(t *testing.T) roots { return roots{next(t, 2, "new-ci", "backup")} }},
		"one key after the other": {signer: "new-ci", counter: 1, reason: hotfix.ReasonReplayed,
			roots: func(t *testing.T) roots {
				return roots{next(t, 2, "backup", "new-ci"), next(t, 3, "new-ci", "new-backup")}
			}},
		"the keys come back": {signer: "ci", counter: 1,
			roots: func(t *testing.T) roots { return roots{next(t, 2, "new-ci"), next(t, 3, "ci")} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deliver(t, signedPointer(t, document(highest), "ci"))
			w.bundle = trust.Bundle{Pointer: signedPointer(t, document(row.counter), row.signer), Roots: row.roots(t)}
			accepted, err := w.follow(t)
			if row.reason == "" {
				check(t, err)
				if accepted.Memory.Counter != row.counter {
					t.Errorf("remembered is %d", accepted.Memory.Counter)
				}
			} else if err == nil || trust.ReasonOf(err) != row.reason {
				t.Errorf("%v, want %s", err, row.reason)
			}
		})
	}
}

// TestTheRootIsChosenAnew: an image or a configuration brings another root to a node that remembers.
func TestTheRootIsChosenAnew(t *testing.T) {
	root2, root3 := rootOf(2), withPointerKeys(3, "new-ci")
	seen := func(t *testing.T) *world {
		w := newWorld(t)
		w.deliver(t, signedPointer(t, document(8), "new-ci"), signedRoot(t, root2, "alice", "bob"),
			signedRoot(t, root3, "alice", "bob"))
		w.bundle = trust.Bundle{Pointer: signedPointer(t, document(8), "new-ci")}
		return w
	}
	t.Run("one that was seen: those behind it still count", func(t *testing.T) {
		w := seen(t)
		w.configured = signedRoot(t, root2, "bob", "carol") // by others, but the same root
		_, err := w.follow(t)
		check(t, err)
		if len(w.memory.Roots) != 1 {
			t.Errorf("%d roots are remembered", len(w.memory.Roots))
		}
	})
	t.Run("the newest that was seen", func(t *testing.T) {
		w := seen(t)
		w.configured = signedRoot(t, root3, "alice", "bob")
		_, err := w.follow(t)
		check(t, err)
	})
	t.Run("a newer one, the counter goes on", func(t *testing.T) {
		w := seen(t)
		w.configured = signedRoot(t, withPointerKeys(7, "new-ci"), "alice", "bob")
		w.bundle.Pointer = signedPointer(t, document(7), "new-ci")
		if _, err := w.follow(t); trust.ReasonOf(err) != hotfix.ReasonReplayed {
			t.Errorf("%v", err)
		}
	})
	t.Run("one of other people, what was remembered of roots is forgotten", func(t *testing.T) {
		w := seen(t)
		theirs := trust.Root{Version: 1, Expires: rootOf(1).Expires, Root: role(1, "dave"), Pointer: role(1, "erin")}
		w.configured = signedRoot(t, theirs, "dave")
		w.bundle.Pointer = signedPointer(t, document(1), "erin")
		_, err := w.follow(t)
		check(t, err)
		if len(w.memory.Roots) != 0 || w.memory.Counter != 1 {
			t.Errorf("%+v", w.memory)
		}
	})
}

// TestMemoryMakesNothingTrusted: whoever could write to the state still has to be followed from the configured root.
func TestMemoryMakesNothingTrusted(t *testing.T) {
	w := newWorld(t)
	w.deliver(t, w.bundle.Pointer)
	theirs := rootOf(2)
	theirs.Root, theirs.Pointer = role(1, "mallory"), role(1, "mallory")
	w.memory.Roots = roots{signedRoot(t, theirs, "mallory")}
	w.bundle.Pointer = signedPointer(t, document(9), "mallory")
	_, err := w.follow(t)
	if trust.ReasonOf(err) != hotfix.ReasonStateUnusable || !strings.Contains(err.Error(), "by the keys of root 1") {
		t.Errorf("%v", err)
	}
}

package trust_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"salve/internal/hotfix/trust"
)

// maxAllocated is what reading any document may allocate in all, in bytes.
const maxAllocated = 64 << 20

// withinBounds reads, and looks how much memory that took.
func withinBounds[T any](t *testing.T, raw []byte, read func([]byte) (T, error)) (T, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	document, err := read(raw)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxAllocated {
		t.Errorf("%d bytes allocated for %d", allocated, len(raw))
	}
	if err == nil {
		expectPlain(t, raw)
	}
	return document, err
}

// expectPlain: what was accepted is JSON whose objects have each name once, in the case that they are known by. A map
// of encoding/json keeps one of two names, so the number of colons outside of texts tells.
func expectPlain(t *testing.T, raw []byte) {
	t.Helper()
	if !json.Valid(raw) {
		t.Fatalf("what is no JSON was accepted: %q", raw)
	}
	var document any
	check(t, json.Unmarshal(raw, &document))
	once, err := json.Marshal(document)
	check(t, err)
	if written, kept := colons(raw), colons(once); written != kept {
		t.Errorf("%d members were accepted, %d are different ones: %s", written, kept, raw)
	}
}

func colons(raw []byte) int {
	quoted, count := false, 0
	for i := 0; i < len(raw); i++ {
		switch {
		case quoted && raw[i] == '\\':
			i++
		case raw[i] == '"':
			quoted = !quoted
		case !quoted && raw[i] == ':':
			count++
		}
	}
	return count
}

// spoilt are what fuzzing begins with: a good document, and the ways to be bad that people know.
func spoilt(good []byte) [][]byte {
	text := string(good)
	return [][]byte{
		good, good[:len(good)/2], nil, []byte("{}"), []byte("[]"), []byte("null"), []byte("\xef\xbb\xbf" + text),
		[]byte(text + text),
		[]byte(strings.Replace(text, `":`, `": null, "x":`, 1)), []byte(strings.Repeat("[", 1000)), []byte(strings.Repeat(`{"a":`, 1000)),
		[]byte(strings.ReplaceAll(text, "s", "S")), []byte(strings.Replace(text, "{", `{"schemaVersion":1,`, 1)),
		[]byte(strings.ReplaceAll(text, "a", `\u0061`)), []byte(strings.ReplaceAll(text, "1", "1e400")), []byte(strings.ReplaceAll(text, "A", "\x00")),
	}
}

func seed(f *testing.F, documents ...[]byte) {
	f.Helper()
	for _, good := range documents {
		for _, raw := range spoilt(good) {
			f.Add(raw)
		}
	}
}

func encoded(t testing.TB, document interface{ Encode() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := document.Encode()
	check(t, err)
	return raw
}

// FuzzEnvelope: what is accepted means the same after it was written and read again.
func FuzzEnvelope(f *testing.F) {
	seed(f, encoded(f, newWorld(f).configured), encoded(f, newWorld(f).bundle.Pointer))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := withinBounds(t, raw, trust.ParseEnvelope)
		if err != nil {
			return
		}
		again, err := trust.ParseEnvelope(encoded(t, e))
		if err != nil || !bytes.Equal(again.Signed(), e.Signed()) || len(again.Signatures) != len(e.Signatures) {
			t.Errorf("%+v became %+v, %v", e, again, err)
		}
	})
}

// FuzzRoot: a root that is accepted has keys under their own IDs, thresholds that they can reach, and is the same after
// it was written and read again.
func FuzzRoot(f *testing.F) {
	payload, err := rootOf(3).Payload()
	check(f, err)
	seed(f, payload)
	f.Fuzz(func(t *testing.T, raw []byte) {
		root, err := withinBounds(t, raw, trust.ParseRoot)
		if err != nil {
			return
		}
		for _, role := range []trust.Role{root.Root, root.Pointer} {
			different := map[string]bool{}
			for _, key := range role.Keys {
				if different[string(key.Public)] = true; trust.IDOf(key.Public) != key.ID {
					t.Errorf("key %s is another's", key.ID)
				}
			}
			if role.Threshold < 1 || role.Threshold > len(different) {
				t.Errorf("threshold %d of %d different keys", role.Threshold, len(different))
			}
		}
		if root.Version < 1 {
			t.Errorf("version %d", root.Version)
		}
		once, err := root.Payload()
		check(t, err)
		again, err := trust.ParseRoot(once)
		check(t, err)
		if twice, err := again.Payload(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s became %s, %v", once, twice, err)
		}
	})
}

// FuzzBundle: whatever is delivered, it is followed only with the signatures that are needed.
func FuzzBundle(f *testing.F) {
	w := newWorld(f)
	w.bundle.Roots = roots{signedRoot(f, withPointerKeys(2, "new-ci"), "alice", "bob")}
	seed(f, encoded(f, w.bundle), encoded(f, newWorld(f).bundle))
	root, err := trust.ParseTrusted(encoded(f, w.configured))
	check(f, err)
	good := map[string]bool{string(newWorld(f).bundle.Pointer.Payload): true}
	f.Fuzz(func(t *testing.T, raw []byte) {
		bundle, err := withinBounds(t, raw, trust.ParseBundle)
		if err != nil {
			return
		}
		chain, err := root.Follow(trust.Memory{}, bundle.Roots)
		if err != nil {
			return
		}
		if accepted, err := chain.Accept(bundle.Pointer, now); err == nil && !good[string(bundle.Pointer.Payload)] {
			t.Errorf("%+v is followed", accepted)
		}
	})
}

// FuzzDocument: a document that is accepted is the same after it was written and read again. It is read after its
// signatures were counted; publishers read those of others.
func FuzzDocument(f *testing.F) {
	payload, err := document(7).Payload()
	check(f, err)
	seed(f, payload)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := trust.ParseDocument(raw)
		if err != nil {
			return
		}
		if d.Counter < 1 || d.Counter > 1<<53-1 || !d.Issued.Before(d.Expires.Time) {
			t.Errorf("%+v", d)
		}
		once, err := d.Payload()
		if err != nil {
			return // its pointer is none
		}
		again, err := trust.ParseDocument(once)
		check(t, err)
		if again.Counter != d.Counter || !again.Expires.Equal(d.Expires.Time) || !bytes.Equal(again.Pointer, d.Pointer) {
			t.Errorf("%+v became %+v", d, again)
		}
	})
}

// FuzzTrusted: nothing that can be made of a root's file is taken for one that its own keys did not sign.
func FuzzTrusted(f *testing.F) {
	good := newWorld(f).configured
	seed(f, encoded(f, good))
	f.Fuzz(func(t *testing.T, raw []byte) {
		root, err := trust.ParseTrusted(raw)
		if err != nil {
			return
		}
		payload, err := root.Root().Payload()
		check(t, err)
		if !bytes.Equal(payload, good.Payload) {
			t.Errorf("%s is trusted", payload)
		}
	})
}

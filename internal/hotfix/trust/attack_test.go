package trust_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/trust"
)

// TestAttacks is the attacker's table: what somebody tries who has the delivery of signed pointers in hand, some of the
// keys, or the clock. Each world is one that would be followed but for the attack.
func TestAttacks(t *testing.T) {
	second := func(t *testing.T, names ...string) trust.Envelope { return signedRoot(t, rootOf(2), names...) }
	for name, row := range map[string]struct {
		attack func(t *testing.T, w *world)
		reason hotfix.Reason
		says   string
	}{
		"nothing is attacked": {attack: func(*testing.T, *world) {}},

		// Replay, freeze, counters.
		"replay: an older document than one that was seen": {reason: hotfix.ReasonReplayed,
			says: "document 7 is older than document 8, which was seen on this node. hint: sign it again with a counter above 8",
			attack: func(t *testing.T, w *world) {
				older := w.bundle
				w.deliver(t, signedPointer(t, document(8), "ci"))
				w.bundle = older
			}},
		"replay by another key of the role": {reason: hotfix.ReasonReplayed, says: "document 7 is older than document 8",
			attack: func(t *testing.T, w *world) {
				w.deliver(t, signedPointer(t, document(8), "backup"))
				w.bundle.Pointer = signedPointer(t, document(7), "ci")
			}},
		"replay after a root that changes nothing about pointers": {reason: hotfix.ReasonReplayed,
			says: "document 7 is older",
			attack: func(t *testing.T, w *world) {
				w.deliver(t, signedPointer(t, document(8), "ci"))
				w.bundle = trust.Bundle{Pointer: signedPointer(t, document(7), "ci"),
					Roots: roots{second(t, "alice", "bob")}}
			}},
		"two documents of one number": {reason: hotfix.ReasonReplayed, says: "there are two different documents 7",
			attack: func(t *testing.T, w *world) {
				w.deliver(t, w.bundle.Pointer)
				other := document(7)
				other.Pointer = json.RawMessage(`{"hotfixes":{"202604.01":""}}`)
				w.bundle.Pointer = signedPointer(t, other, "ci")
			}},
		"the same document again is none": {attack: func(t *testing.T, w *world) { w.deliver(t, w.bundle.Pointer) }},
		"freeze: the newest document for ever": {reason: hotfix.ReasonExpired,
			says:   "document 7 expired at 2026-05-01T12:00:00Z. hint: sign the pointer again",
			attack: func(_ *testing.T, w *world) { w.now = issued.AddDate(0, 1, 0) }},
		"the last second of a document is none": {
			attack: func(_ *testing.T, w *world) { w.now = issued.AddDate(0, 1, 0).Add(-time.Second) }},
		"the root ends before the document": {reason: hotfix.ReasonExpired,
			says:   "root 1 expired at 2026-04-01T13:00:00Z. hint: publish the next root",
			attack: func(t *testing.T, w *world) { w.configured = rootUntil(t, now) }},
		"the last second of a root is none": {
			attack: func(t *testing.T, w *world) { w.configured = rootUntil(t, now.Add(time.Second)) }},
		"the highest counter": {attack: func(t *testing.T, w *world) {
			w.bundle.Pointer = signedPointer(t, document(1<<53-1), "ci")
		}},
		"a counter beyond": {reason: hotfix.ReasonMalformedPointer, says: "whole number from 1 to 9007199254740991",
			attack: withPayload(`"counter":7`, `"counter":9007199254740992`)},
		"a counter that overflows":   {reason: hotfix.ReasonMalformedPointer, says: "whole number", attack: withPayload(`"counter":7`, `"counter":18446744073709551623`)},
		"a negative counter":         {reason: hotfix.ReasonMalformedPointer, says: "whole number", attack: withPayload(`"counter":7`, `"counter":-7`)},
		"counter 0":                  {reason: hotfix.ReasonMalformedPointer, says: "whole number", attack: withPayload(`"counter":7`, `"counter":0`)},
		"a counter with an exponent": {reason: hotfix.ReasonMalformedPointer, says: "whole number", attack: withPayload(`"counter":7`, `"counter":7e0`)},
		"a counter as a text":        {reason: hotfix.ReasonMalformedPointer, says: "whole number", attack: withPayload(`"counter":7`, `"counter":"7"`)},
		"no counter":                 {reason: hotfix.ReasonMalformedPointer, says: `"counter" is missing`, attack: withPayload(`"counter":7,`, ``)},

		// The clock.
		"the clock shows 1970": {reason: hotfix.ReasonClockBeforeIssue,
			says:   "issued at 2026-04-01T12:00:00Z, and the clock shows 1970-01-01T00:00:00Z. hint: set the clock",
			attack: func(_ *testing.T, w *world) { w.now = time.Unix(0, 0) }},
		"the clock shows 2106": {reason: hotfix.ReasonExpired, says: "expired",
			attack: func(_ *testing.T, w *world) { w.now = time.Unix(1<<32, 0) }},
		"a second before it was issued": {reason: hotfix.ReasonClockBeforeIssue,
			attack: func(_ *testing.T, w *world) { w.now = issued.Add(-time.Second) }},
		"the second when it was is none": {attack: func(_ *testing.T, w *world) { w.now = issued }},
		"it expires before it was issued": {reason: hotfix.ReasonMalformedPointer, says: "it expires before it was issued",
			attack: withPayload(`"expires":"2026-05-01T12:00:00Z"`, `"expires":"2026-04-01T12:00:00Z"`)},
		"a time that is none": {reason: hotfix.ReasonMalformedPointer, says: "is not a time such as", attack: withPayload(`2026-05-01`, `2026-02-30`)},
		"a time of another zone": {reason: hotfix.ReasonMalformedPointer, says: "is not a time such as",
			attack: withPayload(`2026-05-01T12:00:00Z`, `2026-05-01T12:00:00+01:00`)},

		// Signatures.
		"nobody signed": {reason: hotfix.ReasonUntrusted,
			says:   "0 of the 1 keys that are needed have signed: nobody (of 0 signatures)",
			attack: func(_ *testing.T, w *world) { w.bundle.Pointer.Signatures = nil }},
		"somebody signed": {reason: hotfix.ReasonUntrusted, says: "nobody (of 1 signatures)",
			attack: func(t *testing.T, w *world) { w.bundle.Pointer = signedPointer(t, document(7), "mallory") }},
		"a root key signed": {reason: hotfix.ReasonUntrusted, says: "nobody", attack: func(t *testing.T, w *world) {
			w.bundle.Pointer = signedPointer(t, document(7), "alice", "bob", "carol")
		}},
		"others signed too is none": {attack: func(t *testing.T, w *world) {
			w.bundle.Pointer = signedPointer(t, document(7), "mallory", "ci", "alice")
		}},
		"a signature over other bytes": {reason: hotfix.ReasonUntrusted, says: "nobody (of 1 signatures)",
			attack: func(t *testing.T, w *world) {
				w.bundle.Pointer.Signatures = signedPointer(t, document(8), "ci").Signatures
			}},
		"one byte of the payload": {reason: hotfix.ReasonUntrusted, says: "nobody", attack: func(_ *testing.T, w *world) {
			w.bundle.Pointer.Payload[20] ^= 1
		}},
		"white space around the payload": {reason: hotfix.ReasonUntrusted, says: "nobody",
			attack: func(_ *testing.T, w *world) {
				w.bundle.Pointer.Payload = append(w.bundle.Pointer.Payload, '\n')
			}},
		"one bit of the signature": {reason: hotfix.ReasonUntrusted, says: "nobody", attack: func(_ *testing.T, w *world) {
			w.bundle.Pointer.Signatures[0].Sig[40] ^= 1
		}},
		"a signature of another length": {reason: hotfix.ReasonUntrusted, says: "nobody",
			attack: func(_ *testing.T, w *world) {
				w.bundle.Pointer.Signatures[0].Sig = append(w.bundle.Pointer.Signatures[0].Sig, 0)
			}},
		"an empty signature": {reason: hotfix.ReasonUntrusted, says: "nobody", attack: func(_ *testing.T, w *world) {
			w.bundle.Pointer.Signatures[0].Sig = nil
		}},
		"a signature under another key's ID": {reason: hotfix.ReasonUntrusted, says: "nobody",
			attack: func(_ *testing.T, w *world) {
				w.bundle.Pointer.Signatures[0].KeyID = key("backup").ID
			}},
		"a signature without ID": {reason: hotfix.ReasonUntrusted, says: "nobody (of 1 signatures)",
			attack: func(_ *testing.T, w *world) { w.bundle.Pointer.Signatures[0].KeyID = "" }},
		"one signature where two are needed": {reason: hotfix.ReasonUntrusted,
			says:   "1 of the 2 keys that are needed have signed: ci ",
			attack: func(t *testing.T, w *world) { twoOfPointers(t, w, signedPointer(t, document(7), "ci")) }},
		"one key's signature twice": {reason: hotfix.ReasonUntrusted, says: "1 of the 2 keys",
			attack: func(t *testing.T, w *world) { twoOfPointers(t, w, signedPointer(t, document(7), "ci", "ci")) }},
		"one key under its ID and under none": {reason: hotfix.ReasonUntrusted, says: "1 of the 2 keys",
			attack: func(t *testing.T, w *world) {
				e := signedPointer(t, document(7), "ci", "ci")
				e.Signatures[1].KeyID = ""
				twoOfPointers(t, w, e)
			}},
		"one key under two IDs": {reason: hotfix.ReasonUntrusted, says: "1 of the 2 keys",
			attack: func(t *testing.T, w *world) {
				e := signedPointer(t, document(7), "ci", "ci")
				e.Signatures[1].KeyID = key("backup").ID
				twoOfPointers(t, w, e)
			}},
		"two signatures where two are needed are none": {
			attack: func(t *testing.T, w *world) { twoOfPointers(t, w, signedPointer(t, document(7), "backup", "ci")) }},

		// Kinds of documents, and mix-and-match.
		"a root as a pointer": {reason: hotfix.ReasonUntrusted,
			says:   "it holds " + trust.RootType + ", and " + trust.PointerType + " is wanted here",
			attack: func(t *testing.T, w *world) { w.bundle.Pointer = second(t, "alice", "bob") }},
		"a pointer as a root": {reason: hotfix.ReasonUntrusted, says: "it holds \"" + trust.PointerType,
			attack: func(_ *testing.T, w *world) { w.bundle.Roots = roots{w.bundle.Pointer} }},
		"a signature for another type": {reason: hotfix.ReasonUntrusted, says: "nobody",
			attack: func(_ *testing.T, w *world) {
				e := w.bundle.Pointer
				e.PayloadType = "application/vnd.salve.node-pointer.v2+json"
				w.bundle.Pointer.Signatures = signed(e, "ci").Signatures[1:]
			}},
		"lengths moved between type and payload": {reason: hotfix.ReasonUntrusted, attack: func(_ *testing.T, w *world) {
			// What is signed says the lengths: a type that eats into the payload is another message.
			e := w.bundle.Pointer
			e.PayloadType, e.Payload = e.PayloadType+" "+string(e.Payload[:1]), e.Payload[1:]
			w.bundle.Pointer = e
		}},
		"the pointer of one document under the signatures of another": {reason: hotfix.ReasonUntrusted, says: "nobody",
			attack: func(t *testing.T, w *world) {
				withdrawn := document(8)
				withdrawn.Pointer = json.RawMessage(`{"hotfixes":{}}`)
				w.bundle.Pointer.Signatures = signedPointer(t, withdrawn, "ci").Signatures
			}},
		"the pointer of the next root beside the roots of today": {reason: hotfix.ReasonUntrusted,
			says:   "the pointer by root 1: 0 of the 1 keys",
			attack: func(t *testing.T, w *world) { w.bundle.Pointer = signedPointer(t, document(8), "new-ci") }},
		"another fleet's roots and pointer": {reason: hotfix.ReasonUntrusted,
			says: "roots: root 2 by the keys of root 1: 0 of the 2 keys",
			attack: func(t *testing.T, w *world) {
				theirs := rootOf(2)
				theirs.Root, theirs.Pointer = role(1, "mallory"), role(1, "mallory")
				w.bundle = trust.Bundle{Pointer: signedPointer(t, document(8), "mallory"),
					Roots: roots{signedRoot(t, theirs, "mallory")}}
			}},

		// What documents look like.
		"members given twice":   {reason: hotfix.ReasonMalformedPointer, says: `"payload" is given twice`, attack: withRaw(`"payload"`, `"payload": "", "payload"`)},
		"names in another case": {reason: hotfix.ReasonMalformedPointer, says: `field "Payload" is not known here`, attack: withRaw(`"payload"`, `"Payload": "", "payload"`)},
		"a name written with an escape is that name": {reason: hotfix.ReasonMalformedPointer, says: `"payload" is given twice`,
			attack: withRaw(`"payload"`, `"p\u0061yload": "", "payload"`)},
		"unknown fields": {reason: hotfix.ReasonMalformedPointer, says: `field "also" is not known here`, attack: withRaw(`"payload"`, `"also": 1, "payload"`)},
		"null":           {reason: hotfix.ReasonMalformedPointer, says: `"roots": it has to be a list`, attack: withRaw(`"roots": []`, `"roots": null`)},
		"a later form":   {reason: hotfix.ReasonMalformedPointer, says: "schemaVersion 2 is not one that this program reads", attack: withRaw(`"schemaVersion": 1`, `"schemaVersion": 2`)},
		"something behind it": {reason: hotfix.ReasonMalformedPointer, says: "not one JSON document",
			attack: withRaw("\n}\n", "\n} {}\n")},
		"a list instead": {reason: hotfix.ReasonMalformedPointer, says: "it has to be an object",
			attack: func(_ *testing.T, w *world) { w.raw = func(string) string { return "[]" } }},
		"no base64":                {reason: hotfix.ReasonMalformedPointer, says: "it is not base64", attack: withRaw(`"sig": "`, `"sig": "*`)},
		"base64 with a line break": {reason: hotfix.ReasonMalformedPointer, says: "can't be printed", attack: withRaw(`"sig": "`, `"sig": "\n`)},
		"more signatures than a node looks at": {reason: hotfix.ReasonMalformedPointer, says: "more than 16 signatures",
			attack: func(_ *testing.T, w *world) {
				for range 16 {
					w.bundle.Pointer.Signatures = append(w.bundle.Pointer.Signatures, trust.Signature{Sig: make([]byte, 64)})
				}
			}},
		"more signatures of a root than a node looks at": {reason: hotfix.ReasonMalformedPointer,
			says: "more than 16 signatures",
			attack: func(t *testing.T, w *world) {
				root := second(t, "alice", "bob")
				for range 15 {
					root.Signatures = append(root.Signatures, trust.Signature{Sig: make([]byte, 64)})
				}
				w.bundle.Roots = roots{root}
			}},
		"more roots than a node looks at": {reason: hotfix.ReasonMalformedPointer, says: "more than 64 elements",
			attack: func(_ *testing.T, w *world) {
				for range 65 {
					w.bundle.Roots = append(w.bundle.Roots, trust.Envelope{PayloadType: trust.RootType})
				}
			}},
		"a huge payload": {reason: hotfix.ReasonMalformedPointer, says: "its payload is larger than 131072 bytes",
			attack: func(_ *testing.T, w *world) {
				w.bundle.Pointer = signed(trust.Envelope{PayloadType: trust.PointerType, Payload: make([]byte, 200<<10)}, "ci")
			}},
		"members given twice inside of the payload": {reason: hotfix.ReasonMalformedPointer, says: `"counter" is given twice`, attack: withPayload(`"counter":7`, `"counter":7,"counter":8`)},
		"a case of its own inside of the payload":   {reason: hotfix.ReasonMalformedPointer, says: `field "Counter" is not known here`, attack: withPayload(`"counter":7`, `"counter":7,"Counter":8`)},
		"a pointer that is none":                    {reason: hotfix.ReasonMalformedPointer, says: "it is not a JSON object", attack: withPayload(string(pointerJSON()), `[]`)},
		"deep nesting": {reason: hotfix.ReasonMalformedPointer, says: "nested more than 40 deep",
			attack: func(_ *testing.T, w *world) {
				w.raw = func(string) string { return strings.Repeat("[", 100_000) }
			}},
		"a huge document": {reason: hotfix.ReasonMalformedPointer, says: "larger than 524288 bytes",
			attack: func(_ *testing.T, w *world) {
				w.raw = func(raw string) string { return raw + strings.Repeat(" ", trust.MaxBundle) }
			}},
		"bytes that are no UTF-8": {reason: hotfix.ReasonMalformedPointer, says: "not UTF-8",
			attack: withRaw("schemaVersion", "schema\xffVersion")},
		"a huge pointer": {reason: hotfix.ReasonMalformedPointer, says: "larger than 65536 bytes",
			attack: withPayload(`"hotfixes"`, strings.Repeat(" ", hotfix.MaxPointerSize)+`"hotfixes"`)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			row.attack(t, w)
			expectRefused(t, w, row.reason, row.says)
		})
	}
}

// expectRefused: no reason means that it is followed.
func expectRefused(t *testing.T, w *world, reason hotfix.Reason, says string) {
	t.Helper()
	accepted, err := w.follow(t)
	if reason == "" {
		check(t, err)
		if !accepted.Pointer.Provenance().Signed || hotfix.Decide("202604.01.0", accepted.Pointer).Wanted() != target {
			t.Errorf("accepted is %+v", accepted)
		}
		return
	}
	if err == nil {
		t.Fatal("it is followed")
	}
	if got := trust.ReasonOf(err); got != reason || !strings.Contains(err.Error(), says) {
		t.Errorf("%s (%v), want %s (%s)", got, err, reason, says)
	}
	if accepted.Pointer.Provenance().Signed || accepted.Memory.Counter != 0 {
		t.Errorf("beside an error there is %+v", accepted)
	}
}

// twoOfPointers is a fleet where two of the pointer's keys have to sign.
func twoOfPointers(t *testing.T, w *world, pointer trust.Envelope) {
	root := rootOf(1)
	root.Pointer.Threshold = 2
	w.configured, w.bundle.Pointer = signedRoot(t, root, "alice", "bob"), pointer
}

// withPayload changes a text of the payload before it is signed.
func withPayload(old, other string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		changed := strings.Replace(string(w.bundle.Pointer.Payload), old, other, 1)
		if changed == string(w.bundle.Pointer.Payload) {
			t.Fatalf("the payload does not hold %s", old)
		}
		w.bundle.Pointer = signed(trust.Envelope{PayloadType: trust.PointerType, Payload: []byte(changed)}, "ci")
	}
}

// withRaw changes a text of the delivered file.
func withRaw(old, other string) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) {
		w.raw = func(raw string) string { return strings.Replace(raw, old, other, 1) }
	}
}

// TestTheEncodingIsThatOfDSSE, by the example of its specification, and by the other alphabet of base64.
func TestTheEncodingIsThatOfDSSE(t *testing.T) {
	e := trust.Envelope{PayloadType: "http://example.com/HelloWorld", Payload: []byte("hello world")}
	if got := string(e.Signed()); got != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Errorf("signed is %q", got)
	}
	bytes := []byte{0xfb, 0xff, 0xfe, 1}
	read, err := trust.ParseEnvelope(fmt.Appendf(nil, `{"payloadType":"x","payload":%q,"signatures":[{"sig":%q}]}`,
		base64.URLEncoding.EncodeToString(bytes), base64.StdEncoding.EncodeToString(bytes)))
	check(t, err)
	if string(read.Payload) != string(bytes) || string(read.Signatures[0].Sig) != string(bytes) {
		t.Errorf("%+v", read)
	}
}

// TestWhoVouches is what a pointer that was accepted says of itself.
func TestWhoVouches(t *testing.T) {
	w := newWorld(t)
	w.bundle.Pointer = signed(w.bundle.Pointer, "backup", "mallory")
	accepted, err := w.follow(t)
	check(t, err)
	got := accepted.Pointer.Provenance()
	if got.Counter != 7 || got.Root != 1 || !got.Expires.Equal(issued.AddDate(0, 1, 0)) ||
		strings.Join(got.Hosts, " ") != "packages.example.com" {
		t.Errorf("%+v", got)
	}
	want := fmt.Sprintf("ci %.12s, backup %.12s", key("ci").ID, key("backup").ID)
	if strings.Join(got.Signers, ", ") != want {
		t.Errorf("signed by %v, want %s", got.Signers, want)
	}
	if public := private("ci").Public().(ed25519.PublicKey); len(trust.IDOf(public)) != 64 {
		t.Errorf("ID %s", trust.IDOf(public))
	}
}

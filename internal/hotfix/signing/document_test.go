package signing_test

import (
	"testing"
	"time"

	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
)

var now = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

func rootBy(t *testing.T, by signing.Signer, version int64, expires time.Time) trust.Envelope {
	t.Helper()
	role := trust.Role{Threshold: 1, Keys: []trust.Key{{ID: trust.IDOf(by.Public()), Public: by.Public()}}}
	payload, err := trust.Root{Version: version, Expires: expires, Root: role, Pointer: role}.Payload()
	check(t, err)
	e, err := signing.Add(t.Context(), trust.Envelope{PayloadType: trust.RootType, Payload: payload}, by)
	check(t, err)
	return e
}

func TestRootsAreOneLine(t *testing.T) {
	alice, bob, year := generated(t), generated(t), now.AddDate(1, 0, 0)
	first, second, third := rootBy(t, alice, 1, year), rootBy(t, alice, 2, year), rootBy(t, alice, 3, year)
	unsigned := first
	unsigned.Signatures = nil
	for name, row := range map[string]struct {
		roots     []trust.Envelope
		newest    int64
		following int
		says      string
	}{
		"one":                 {roots: []trust.Envelope{first}, newest: 1},
		"in any order":        {roots: []trust.Envelope{third, first, second}, newest: 3, following: 2},
		"given twice":         {roots: []trust.Envelope{first, second, first}, newest: 2, following: 1},
		"from a later one on": {roots: []trust.Envelope{second, third}, newest: 3, following: 1},
		"none":                {says: "there is no root document"},
		"one is missing":      {roots: []trust.Envelope{first, third}, says: "root 3 can't follow root 1"},
		"another of the same version": {roots: []trust.Envelope{first, rootBy(t, alice, 1, year.AddDate(1, 0, 0))},
			says: "two different roots 1"},
		"of other people": {roots: []trust.Envelope{first, rootBy(t, bob, 2, year)},
			says: "root 2 by the keys of root 1"},
		"the first is not signed": {roots: []trust.Envelope{unsigned}, says: "it is not signed by its own keys yet"},
		"something else":          {roots: []trust.Envelope{envelope()}, says: "is wanted here"},
	} {
		t.Run(name, func(t *testing.T) {
			roots, err := signing.ReadRoots(row.roots)
			if row.says != "" {
				expectRefused(t, err, row.says)
				return
			}
			check(t, err)
			if roots.Newest().Version != row.newest || len(roots.Following()) != row.following {
				t.Errorf("newest %d, %d follow", roots.Newest().Version, len(roots.Following()))
			}
		})
	}
}

func TestReleases(t *testing.T) {
	alice := generated(t)
	roots, err := signing.ReadRoots([]trust.Envelope{rootBy(t, alice, 1, now.AddDate(0, 1, 0)),
		rootBy(t, alice, 2, now.AddDate(0, 2, 0))})
	check(t, err)
	release := signing.Release{Pointer: []byte(`{"version": "202604.01.2"}`), Counter: 7, Issued: now,
		Expires: now.AddDate(0, 2, 0), Roots: roots}
	bundle, err := release.Bundle()
	check(t, err)
	if _, err := roots.Verify(bundle.Pointer, now); trust.ReasonOf(err) != "untrusted" {
		t.Errorf("before anybody signed: %v", err)
	}
	bundle.Pointer, err = signing.Add(t.Context(), bundle.Pointer, alice)
	check(t, err)
	accepted, err := roots.Verify(bundle.Pointer, now)
	check(t, err)
	if string(accepted.Document.Pointer) != string(release.Pointer) || accepted.Root.Version != 2 ||
		len(bundle.Roots) != 1 {
		t.Errorf("%+v", accepted)
	}
	release.Expires = release.Expires.Add(time.Second)
	_, err = release.Bundle()
	expectRefused(t, err, "root 2 expires at 2026-06-01T12:00:00Z, before the document does")
	release.Expires, release.Pointer = now.Add(time.Hour), []byte(`[]`)
	_, err = release.Bundle()
	expectRefused(t, err, "pointer: it is not a JSON object")
}

func TestKindsOfFiles(t *testing.T) {
	for text, want := range map[string]signing.Kind{
		`{"payloadType": "x", "payload": "", "signatures": []}`: signing.Root, `{"signatures": []}`: signing.Root,
		`{"schemaVersion": 1, "roots": [], "pointer": {}}`: signing.Signed, `{"version": "202604.01.2"}`: signing.Pointer,
		`{`: signing.Pointer, `[]`: signing.Pointer,
	} {
		if got := signing.KindOf([]byte(text)); got != want {
			t.Errorf("%s is a %s", text, got)
		}
	}
}

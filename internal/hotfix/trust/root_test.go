package trust_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/hotfix/trust"
)

// TestRootsThatCantBeUsed: each row changes one text of a root that can.
func TestRootsThatCantBeUsed(t *testing.T) {
	payload, err := rootOf(1).Payload()
	check(t, err)
	root, err := trust.ParseRoot(payload)
	if err != nil || root.Pointer.Threshold != 1 || len(root.Root.Keys) != 3 || root.Root.Keys[1].Name != "bob" {
		t.Fatalf("%+v, %v", root, err)
	}
	alice, ci := key("alice").ID, key("ci").ID
	for name, row := range map[string]struct{ old, other, says string }{
		"no version":                  {`"version": 1,`, ``, `"version" is missing`},
		"version 0":                   {`"version": 1`, `"version": 0`, "whole number"},
		"a threshold of 0":            {`"threshold": 2`, `"threshold": 0`, "whole number"},
		"a threshold that overflows":  {`"threshold": 2`, `"threshold": 4294967297`, "the threshold is 4294967297, and there are 3 keys"},
		"more keys needed than there": {`"threshold": 2`, `"threshold": 4`, "role root: the threshold is 4, and there are 3 keys"},
		"a role with a key twice":     {`"keys": [` + "\n        " + quoted(alice), `"keys": [` + quoted(alice) + "," + quoted(alice), "is given twice"},
		"one key under two IDs":       {`"keys": {`, `"keys": {"` + strings.Repeat("0", 64) + `": {"scheme": "ed25519", "public": "` + public("ci") + `"},`, "the ID is not the SHA-256 of the public key"},
		"the ID in capitals": {quoted(ci) + ": {", quoted(strings.ToUpper(ci)) + ": {",
			"the ID is not the SHA-256"},
		"a key given twice":              {quoted(ci) + ": {", quoted(ci) + `: {"scheme": "ed25519", "public": "` + public("ci") + `"},` + quoted(ci) + ": {", "is given twice"},
		"a role with an unknown key":     {`"keys": [` + "\n        " + quoted(alice), `"keys": [` + quoted(strings.Repeat("0", 64)), "is not among the keys"},
		"a key without role":             {`"keys": {`, `"keys": {` + quoted(key("dave").ID) + `: {"scheme": "ed25519", "name": "dave", "public": "` + public("dave") + `"},`, "key dave " + key("dave").ID[:12] + " has no role"},
		"another scheme":                 {`"scheme": "ed25519"`, `"scheme": "rsa"`, `scheme "rsa" is not known here`},
		"a short key":                    {public("ci"), "AAAA", "public is not the 32 bytes of a key"},
		"another role":                   {`"roles": {`, `"roles": {"targets": {"keys": [], "threshold": 1},`, `field "targets" is not known here`},
		"a host with a scheme":           {`"packages.example.com"`, `"https://packages.example.com"`, "hosts: "},
		"a host that stands for many":    {`"packages.example.com"`, `"*.example.com"`, "neither host nor host:port"},
		"no list of hosts":               {`"hosts": [`, `"host": [`, `field "host" is not known here`},
		"a name that can't be printed":   {`"name": "bob"`, `"name": "b\u001b[2Job"`, "can't be printed"},
		"a name that is too long":        {`"name": "bob"`, `"name": "` + strings.Repeat("b", 261) + `"`, "longer than 260 bytes"},
		"expires is a number":            {`"expires": "2027-04-01T12:00:00Z"`, `"expires": 1`, "has to be a text"},
		"expires has a fraction":         {`12:00:00Z`, `12:00:00.5Z`, "is not a time such as"},
		"a later form":                   {`"schemaVersion": 1`, `"schemaVersion": 2`, "use a newer one"},
		"nothing but a brace":            {string(payload), "{", "not one JSON document"},
		"more keys than a root may have": {`"keys": {`, `"keys": {` + manyMembers(65), "more than 64 members"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(payload), row.old, row.other, 1)
			if changed == string(payload) {
				t.Fatalf("the root does not hold %q:\n%s", row.old, payload)
			}
			if _, err := trust.ParseRoot([]byte(changed)); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want %q", err, row.says)
			}
		})
	}
}

// TestNothingIsWrittenThatWouldNotBeRead: publishers are refused what nodes would refuse.
func TestNothingIsWrittenThatWouldNotBeRead(t *testing.T) {
	for name, root := range map[string]trust.Root{
		"no root key":    {Version: 1, Expires: now, Root: role(1), Pointer: role(1, "ci")},
		"no pointer key": {Version: 1, Expires: now, Root: role(1, "alice"), Pointer: role(1)},
		"no threshold":   {Version: 1, Expires: now, Root: role(0, "alice"), Pointer: role(1, "ci")},
		"no version":     {Expires: now, Root: role(1, "alice"), Pointer: role(1, "ci")},
		"a host with path": {Version: 1, Expires: now, Root: role(1, "alice"), Pointer: role(1, "ci"),
			Hosts: []string{"a/b"}},
	} {
		if _, err := root.Payload(); err == nil {
			t.Errorf("%s: it is written", name)
		}
	}
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprint("key-", i)
	}
	named, unnamed := role(1, "alice"), role(1, "alice")
	unnamed.Keys[0].Name = ""
	for _, both := range []trust.Root{{Root: named, Pointer: unnamed}, {Root: unnamed, Pointer: named}} {
		both.Version, both.Expires = 1, now
		payload, err := both.Payload()
		check(t, err)
		if read, err := trust.ParseRoot(payload); err != nil || read.Pointer.Keys[0].Name != "alice" {
			t.Errorf("a key that has a name in one role: %+v, %v", read, err)
		}
	}
	crowd := trust.Root{Version: 1, Expires: now, Root: role(1, many...), Pointer: role(1, "ci")}
	if _, err := crowd.Payload(); err == nil || !strings.Contains(err.Error(), "more than 16 keys") {
		t.Errorf("a role of 17 keys: %v", err)
	}
	d := document(1)
	d.Pointer = []byte(`[]`)
	if _, err := d.Payload(); err == nil {
		t.Error("a pointer that is none is written")
	}
	d = document(0)
	if _, err := d.Payload(); err == nil {
		t.Error("a document without counter is written")
	}
}

// TestThePointersBytesStay: what is signed is what its author wrote, spaces and all.
func TestThePointersBytesStay(t *testing.T) {
	d := document(1)
	d.Pointer = []byte("{\n  \"version\" :  \"202604.01.2\", \"note\": \"<&>\"\n}")
	payload, err := d.Payload()
	check(t, err)
	read, err := trust.ParseDocument(payload)
	check(t, err)
	if string(read.Pointer) != string(d.Pointer) {
		t.Errorf("%s", read.Pointer)
	}
}

func quoted(text string) string { return `"` + text + `"` }

func public(name string) string {
	text, err := trust.Bytes(key(name).Public).MarshalText()
	if err != nil {
		panic(err)
	}
	return string(text)
}

func manyMembers(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, `"k%d": {"scheme": "ed25519", "public": "AAAA"}, `, i)
	}
	return all.String()
}

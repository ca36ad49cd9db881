package hotfix_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// TestArtifactsOfASignedPointer: what differs from an unsigned one.
func TestArtifactsOfASignedPointer(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for name, row := range map[string]struct{ artifact, says string }{
		"from a host of the list":  {`"url": "https://example.com/node", "format": "deb"`, "found"},
		"hosts have no case":       {`"url": "https://Example.COM/node", "format": "deb"`, "found"},
		"the port of HTTPS":        {`"url": "https://example.com:443/node", "format": "deb"`, "found"},
		"a port of the list":       {`"url": "https://mirror.example.com:8443/node", "format": "deb"`, "found"},
		"without an address":       {`"format": "deb"`, "found"},
		"with none":                {`"url": null, "format": "rpm"`, "found"},
		"with an empty one":        {`"url": "", "format": "rpm"`, "found"},
		"a binary without address": {`"format": "binary"`, "no package repository has a file of format binary"},
		"over HTTP":                {`"url": "http://example.com/node", "format": "deb"`, "not an address of HTTPS"},
		"another host":             {`"url": "https://evil.example.com/node", "format": "deb"`, "not on the root document's list of hosts"},
		"another port":             {`"url": "https://example.com:8443/node", "format": "deb"`, "not on the root document's list of hosts"},
		"no port of the list":      {`"url": "https://mirror.example.com/node", "format": "deb"`, "not on the root document's list"},
		"a host as a user":         {`"url": "https://example.com@evil.example.org/node", "format": "deb"`, "not on the root document's list"},
		"a host with a dot behind": {`"url": "https://example.com./node", "format": "deb"`, "not on the root document's list"},
		"no host":                  {`"url": "https:///node", "format": "deb"`, "has no host"},
		"no format":                {`"url": "https://example.com/node"`, "format is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			pointer, err := hotfix.ParsePointer(fmt.Appendf(nil,
				`{"artifacts": {"202604.01": {"amd64": {"sha256": %q, "size": 7, %s}}}}`, digest, row.artifact))
			check(t, err)
			pointer = pointer.By(hotfix.Provenance{Signed: true, Hosts: []string{"example.com", "mirror.example.com:8443"}})
			_, found, err := pointer.Artifact("202604.01", "amd64")
			got := map[bool]string{true: "found", false: "none"}[found]
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, row.says) {
				t.Errorf("%s, want %s", got, row.says)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"example.com": "example.com:443", "Example.com:8443": "example.com:8443", "192.0.2.1": "192.0.2.1:443",
		"[2001:db8::1]:8443": "2001:db8::1:8443",
		"":                   "", "*.example.com": "", "https://example.com": "", "example.com/path": "",
		"user@example.com": "",
		"example.com:port": "", "example.com?x": "", "exa mple.com": "", ":443": "", "%65xample.com": "",
	} {
		got, err := hotfix.ParseHost(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	none := hotfix.Provenance{Signed: true}
	if err := none.Allows(&url.URL{Scheme: "https", Host: "example.com"}); err == nil {
		t.Error("an empty list allows a host")
	}
}

// TestDecidingBySignedPointersAlone: whatever is installed has its digest under the signature.
func TestDecidingBySignedPointersAlone(t *testing.T) {
	of := func(base, architecture string) string {
		return fmt.Sprintf(`"artifacts": {%q: {%q: {"sha256": %q, "size": 7, "format": "deb"}}}`, base, architecture,
			strings.Repeat("ab", 32))
	}
	for name, row := range map[string]struct {
		pointer  string
		unsigned bool
		reason   hotfix.Reason
		program  string
		scripts  string
		warns    string
	}{
		"the program's digest is there": {pointer: `"version": "202604.01.2", ` + of("202604.01", "amd64"), reason: hotfix.ReasonInstall, program: "202604.01.2"},
		"no digest at all": {pointer: `"version": "202604.01.2"`, reason: hotfix.ReasonNotUnderSignature,
			warns: "no artifact for base 202604.01 and architecture amd64 is under the signature"},
		"another architecture's": {pointer: `"version": "202604.01.2", ` + of("202604.01", "arm64"), reason: hotfix.ReasonNotUnderSignature, warns: "amd64"},
		"another base's":         {pointer: `"version": "202604.01.2", ` + of("202603.01", "amd64"), reason: hotfix.ReasonNotUnderSignature, warns: "202604.01"},
		"one that can't be used": {pointer: `"version": "202604.01.2", ` + strings.Replace(of("202604.01", "amd64"), "ab", "xy", 1), reason: hotfix.ReasonNotUnderSignature, warns: "64 hexadecimal digits"},
		"scripts with theirs": {pointer: `"scripts_version": "202604.01.2", ` + of("202604.01", "all"), reason: hotfix.ReasonNoVersion,
			scripts: "202604.01.2"},
		"scripts with the program's":  {pointer: `"scripts_version": "202604.01.2", ` + of("202604.01", "amd64"), reason: hotfix.ReasonNoVersion, warns: "architecture all"},
		"the program without scripts": {pointer: `"version": "202604.01.2", "scripts_version": "202604.01.2", ` + of("202604.01", "amd64"), reason: hotfix.ReasonInstall, program: "202604.01.2", warns: "architecture all"},
		"nothing is to be installed":  {pointer: `"hotfixes": {"202604.01": ""}`, reason: hotfix.ReasonExplicitlyNone},
		"nobody signed it": {pointer: `"version": "202604.01.2", ` + of("202604.01", "amd64"), unsigned: true,
			reason: hotfix.ReasonNotUnderSignature, warns: "nobody signed the pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			pointer, err := hotfix.ParsePointer([]byte("{" + row.pointer + "}"))
			check(t, err)
			pointer = pointer.By(hotfix.Provenance{Signed: !row.unsigned, Counter: 7})
			decision := hotfix.DecideSigned(hotfix.Node{Version: "202604.01.0"}, pointer, "amd64")
			scripts := ""
			if decision.Scripts.Target != nil {
				scripts = *decision.Scripts.Target
			}
			if decision.Reason != row.reason || decision.Wanted() != row.program || scripts != row.scripts {
				t.Errorf("%+v", decision)
			}
			if installs := row.program != "" || row.scripts != ""; decision.Installs() != installs {
				t.Errorf("installs: %v", decision.Installs())
			}
			warned := fmt.Sprint(decision.Warnings)
			if !strings.Contains(warned, row.warns) || (row.warns == "") != (len(decision.Warnings) == 0) {
				t.Errorf("warns of %s, want %q", warned, row.warns)
			}
			if signed := decision.Trust != nil; signed == row.unsigned || (signed && decision.Trust.Counter != 7) {
				t.Errorf("trust: %+v", decision.Trust)
			}
		})
	}
}

// TestACanaryWithoutItsDigest: a node of the canary then takes what the others take, as long as that has one in the
// same document and is an earlier version. It never takes the canary's, and the decision says so.
func TestACanaryWithoutItsDigest(t *testing.T) {
	artifact := fmt.Sprintf(`{"sha256": %q, "size": 7, "format": "deb"}`, strings.Repeat("ab", 32))
	const canary, others = `"canaries": {"202604.01": {"version": "202604.01.3", "percent": 10, "artifacts": %s}}`,
		`"hotfixes": {"202604.01": "202604.01.2"}`
	forAll := `, "artifacts": {"202604.01": {"amd64": ` + artifact + `}}`
	otherArchitecture := fmt.Sprintf(canary, `{"arm64": `+artifact+`}`)
	for name, row := range map[string]struct {
		pointer string
		target  string
		refused hotfix.Reason
	}{
		"it has it":                                  {others + `, ` + fmt.Sprintf(canary, `{"amd64": `+artifact+`}`) + forAll, "202604.01.3", ""},
		"only that of another architecture":          {others + `, ` + otherArchitecture + forAll, "202604.01.2", hotfix.ReasonNotUnderSignature},
		"one that can't be used":                     {others + `, ` + fmt.Sprintf(canary, `{"amd64": {"size": 7}}`) + forAll, "202604.01.2", hotfix.ReasonNotUnderSignature},
		"one whose architecture is misspelt":         {others + `, ` + fmt.Sprintf(canary, `{"amd46": `+artifact+`}`) + forAll, "202604.01.2", hotfix.ReasonNotUnderSignature},
		"artifacts that are none":                    {others + `, ` + fmt.Sprintf(canary, `7`) + forAll, "202604.01.2", hotfix.ReasonNotUnderSignature},
		"what is for all has none, either":           {others + `, ` + otherArchitecture, "", hotfix.ReasonNotUnderSignature},
		"what is for all has another architecture's": {others + `, ` + otherArchitecture + strings.Replace(forAll, "amd64", "arm64", 1), "", hotfix.ReasonNotUnderSignature},
		"nothing is for all":                         {otherArchitecture + forAll, "", hotfix.ReasonNotUnderSignature},
		"other bases alone have something":           {`"hotfixes": {"202605.01": "202605.01.2"}, ` + otherArchitecture + forAll, "", hotfix.ReasonNotUnderSignature},
		"what is for all is the canary's version":    {`"version": "202604.01.3", ` + otherArchitecture + forAll, "", hotfix.ReasonNotUnderSignature},
		"what is for all is in the image already":    {`"version": "202604.01.1", ` + otherArchitecture + forAll, "", hotfix.ReasonNotUnderSignature},
	} {
		t.Run(name, func(t *testing.T) {
			pointer, err := hotfix.ParsePointer([]byte("{" + row.pointer + "}"))
			check(t, err)
			decision := hotfix.DecideSigned(early, pointer.By(hotfix.Provenance{Signed: true}), "amd64")
			if decision.Wanted() != row.target || decision.Installs() != (row.target != "") {
				t.Errorf("%+v, want %q", decision, row.target)
			}
			draw := decision.Canary
			if draw == nil || draw.Refused != row.refused || draw.Missed() != row.refused || draw.Takes != (row.refused == "") {
				t.Errorf("%+v, want it refused for %q", draw, row.refused)
			}
			if said := strings.Contains(fmt.Sprint(decision.Warnings), "this node takes what is for all, 202604.01.2"); said !=
				(row.target == "202604.01.2") {
				t.Errorf("says %v", decision.Warnings)
			}
			without := hotfix.DecideSigned(late, pointer.By(hotfix.Provenance{Signed: true}), "amd64")
			if without.Canary.Refused != "" || row.target == "202604.01.2" && without.Wanted() != row.target {
				t.Errorf("a node that is none of the canary's: %+v", without)
			}
		})
	}
}

package hotfix

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

// MaxArtifactSize bounds what a pointer may make a node download, in bytes.
const MaxArtifactSize = 256 << 20

// AnyArchitecture is the key of an artifact that is the same for all of them: the
// payload of scripts. The word is Debian's.
const AnyArchitecture = "all"

// Format says how an artifact carries the program.
type Format string

// The formats.
const (
	Binary Format = "binary"
	Deb    Format = "deb"
	RPM    Format = "rpm"
)

// Artifact is where a hotfix can be had directly, instead of from a package
// repository. The digest and the size are of the file at the URL.
type Artifact struct {
	// URL is empty where a signed pointer leaves it out: the package then comes from the image's repository, and its
	// file has the digest and the size.
	URL    string `json:"url"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes
	Format Format `json:"format"`
}

// ArtifactOf gives the artifact of a target for an architecture (as Go names it): that of its canary, if that has some
// of its own, else that of its base. found is false where the pointer names none; an error says what is wrong with the
// one that it names.
func (p Pointer) ArtifactOf(target Version, architecture string) (artifact Artifact, found bool, err error) {
	field, own, is := p.canaryArtifacts(target)
	if !is || architecture == AnyArchitecture {
		return p.Artifact(target.Base(), architecture)
	}
	value, found, err := lookUp(own, architecture, isArchitecture)
	if err != nil {
		return Artifact{}, false, fmt.Errorf("%s: %w", field, err)
	}
	if !found {
		return Artifact{}, false, nil
	}
	return p.checkedArtifact(value, fmt.Sprintf("%s[%s]", field, quote(architecture)))
}

// Artifact gives the artifact for nodes of a base and an architecture that take what is for all.
func (p Pointer) Artifact(base, architecture string) (artifact Artifact, found bool, err error) {
	if p.artifacts.name != "" && p.artifacts.value == nil {
		return Artifact{}, false, fmt.Errorf("%s is given twice", fieldArtifacts)
	}
	if name, misspelt := p.misspelt[fieldArtifacts]; misspelt {
		return Artifact{}, false, fmt.Errorf("%s may be meant to be %s: names are literal", quote(name), fieldArtifacts)
	}
	value := p.artifacts.value
	for _, step := range []struct {
		key   string
		known func(string) bool
	}{{base, ValidBase}, {architecture, isArchitecture}} {
		if value, found, err = lookUp(value, step.key, step.known); err != nil {
			return Artifact{}, false, fmt.Errorf("%s: %w", fieldArtifacts, err)
		}
		if !found {
			return Artifact{}, false, nil
		}
	}
	return p.checkedArtifact(value, fmt.Sprintf("%s[%s][%s]", fieldArtifacts, quote(base), quote(architecture)))
}

func isArchitecture(name string) bool { return slices.Contains(architectures(), name) }

func (p Pointer) checkedArtifact(object json.RawMessage, field string) (Artifact, bool, error) {
	artifact, err := p.readArtifact(object)
	if err == nil {
		err = artifact.check(p.provenance)
	}
	if err != nil {
		return Artifact{}, true, fmt.Errorf("%s: %w", field, err)
	}
	return artifact, true, nil
}

// readArtifact takes the fields by their exact names, each given once. The package
// encoding/json would take «URL» for «url», and the last of two.
func (p Pointer) readArtifact(object json.RawMessage) (a Artifact, err error) {
	isField := func(name string) bool { return slices.Contains(artifactFields(), name) }
	for _, field := range []struct {
		name     string
		into     any
		optional bool
	}{{"url", &a.URL, p.provenance.Signed}, {"sha256", &a.SHA256, false}, {"size", &a.Size, false},
		{"format", &a.Format, false}} {
		value, found, err := lookUp(object, field.name, isField)
		switch {
		case err != nil:
			return Artifact{}, err
		case !found && field.optional:
			continue
		case !found:
			return Artifact{}, fmt.Errorf("%s is missing", field.name)
		}
		if err := json.Unmarshal(value, field.into); err != nil {
			return Artifact{}, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	return a, nil
}

// lookUp finds a key of an object; null and absent are the same. A name that is nearly
// the key, and none of the known ones, may be meant for it.
func lookUp(object json.RawMessage, key string, known func(string) bool) (json.RawMessage, bool, error) {
	if len(object) == 0 || string(object) == "null" {
		return nil, false, nil
	}
	if object[0] != '{' {
		return nil, false, fmt.Errorf("what should hold %s is not an object", quote(key))
	}
	members, twice := byName(membersOf(object, 0))
	if twice[key] {
		return nil, false, fmt.Errorf("%s is given twice", quote(key))
	}
	if name, found := nearMember(members, key, known); found {
		return nil, false, fmt.Errorf("%s may be meant to be %s: names are literal", quote(name), quote(key))
	}
	for _, m := range members {
		if m.name == key && string(m.value) != "null" {
			return m.value, true, nil
		}
	}
	return nil, false, nil
}

func (a Artifact) check(by Provenance) error {
	if err := a.checkURL(by); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	digest, decodeErr := hex.DecodeString(a.SHA256)
	switch {
	case decodeErr != nil || len(digest) != 32:
		return fmt.Errorf("sha256: %s is not 64 hexadecimal digits", quote(a.SHA256))
	case a.Size < 1 || a.Size > MaxArtifactSize:
		return fmt.Errorf("size: %d is not between 1 and %d bytes", a.Size, int64(MaxArtifactSize))
	case !slices.Contains([]Format{Binary, Deb, RPM}, a.Format):
		return fmt.Errorf("format: %s is not one of binary, deb, rpm", quote(string(a.Format)))
	}
	return nil
}

func (a Artifact) checkURL(by Provenance) error {
	if a.URL == "" && by.Signed {
		if a.Format == Binary {
			return fmt.Errorf("it is missing, and no package repository has a file of format %s", Binary)
		}
		return nil
	}
	at, err := url.Parse(a.URL)
	switch {
	case err != nil:
		return err
	case by.Signed:
		return by.Allows(at)
	case (at.Scheme != "https" && at.Scheme != "http") || at.Host == "":
		return fmt.Errorf("%s is not an address of HTTP or HTTPS", quote(a.URL))
	}
	return nil
}

package registry

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Image is an image, or an index of several, in a registry.
type Image struct {
	// Registry is a host, with its port where that isn't the usual one.
	Registry   string `json:"registry"`
	Repository string `json:"repository"`
	// Digest is sha256: and 64 hexadecimal digits.
	Digest string `json:"digest"`
}

func (i Image) String() string { return i.Registry + "/" + i.Repository + "@" + i.Digest }

// Validate refuses what names no image by digest.
func (i Image) Validate() error {
	_, err := i.reference()
	return err
}

// Tag is a name that tells an image by its digest, for those who look at a repository: the digest without what it is
// made by. Nothing may rely on it.
func (i Image) Tag() string { return strings.TrimPrefix(i.Digest, "sha256:") }

// repositoryName is the distribution specification's rule:
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
var repositoryName = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

// digestForm is that of the only algorithm that registries have to know.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ValidateDigest refuses what no image has as its digest.
func ValidateDigest(digest string) error {
	if !digestForm.MatchString(digest) {
		return fmt.Errorf("the digest %q must be sha256: and 64 hexadecimal digits, in lower case", digest)
	}
	return nil
}

// ValidateRepository refuses what no repository can be called.
func ValidateRepository(repository string) error {
	if !repositoryName.MatchString(repository) {
		return fmt.Errorf("%q is no name of a repository", repository)
	}
	return nil
}

// ValidateHost refuses what is no registry's host, with its port where that isn't the usual one: a scheme and a path,
// among others.
func ValidateHost(host string) error {
	parsed, err := name.NewRegistry(host, name.StrictValidation)
	switch {
	case err != nil || host == "":
		return fmt.Errorf("%q is no host of a registry, such as registry.example or registry.example:5000", host)
	case parsed.RegistryStr() != host: // docker.io has such rules
		return fmt.Errorf("%q would be taken for %s; write it so", host, parsed.RegistryStr())
	}
	return nil
}

func (i Image) reference() (name.Digest, error) {
	if i.Registry == "" || i.Repository == "" {
		return name.Digest{}, fmt.Errorf("image %s: a registry and a repository are needed", i)
	}
	if err := errors.Join(ValidateDigest(i.Digest), ValidateRepository(i.Repository)); err != nil {
		return name.Digest{}, fmt.Errorf("image %s: %w", i, err)
	}
	reference, err := name.NewDigest(i.String(), name.StrictValidation)
	if err != nil {
		return name.Digest{}, fmt.Errorf("image %s: %w", i, err)
	}
	// What a library makes of a name must not be another registry or repository: docker.io has such rules.
	if reference.RegistryStr() != i.Registry || reference.RepositoryStr() != i.Repository {
		return name.Digest{}, fmt.Errorf("image %s: it would be taken for %s; write it so", i, reference)
	}
	return reference, nil
}

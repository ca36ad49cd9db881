package registry_test

import (
	"strings"
	"testing"

	"salve/internal/registry"
)

// TestNamesAreRefusedAlone: what no image could be named by is known before any image is.
func TestNamesAreRefusedAlone(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, row := range map[string]struct {
		validate func(string) error
		value    string
		refused  bool
	}{
		"a host":                     {registry.ValidateHost, "registry.example", false},
		"a host with a port":         {registry.ValidateHost, "127.0.0.1:5000", false},
		"a URL":                      {registry.ValidateHost, "https://registry.example", true},
		"a host with a path":         {registry.ValidateHost, "registry.example/fleet", true},
		"no host":                    {registry.ValidateHost, "", true},
		"one that means another":     {registry.ValidateHost, "docker.io", true},
		"a name in Azure":            {registry.ValidateNameOrHost, "fleetimages", false},
		"a name with its hash":       {registry.ValidateNameOrHost, "fleetimages-abc123", false},
		"a host in place of a name":  {registry.ValidateNameOrHost, "fleet.azurecr.io", false},
		"a name with an underscore":  {registry.ValidateNameOrHost, "fleet_images", true},
		"a name with a path":         {registry.ValidateNameOrHost, "fleet/images", true},
		"a host that is none either": {registry.ValidateNameOrHost, "https://fleet", true},
		"a repository":               {registry.ValidateRepository, "fleet/web-app", false},
		"a repository in capitals":   {registry.ValidateRepository, "Fleet", true},
		"a way out":                  {registry.ValidateRepository, "../fleet", true},
		"a repository with a tag":    {registry.ValidateRepository, "fleet:v1", true},
		"a digest":                   {registry.ValidateDigest, digest, false},
		"a digest in capitals":       {registry.ValidateDigest, "sha256:" + strings.Repeat("A", 64), true},
		"a short digest":             {registry.ValidateDigest, digest[:70], true},
		"another algorithm":          {registry.ValidateDigest, "sha512:" + strings.Repeat("0", 128), true},
	} {
		if err := row.validate(row.value); (err != nil) != row.refused {
			t.Errorf("%s: %q: %v", name, row.value, err)
		}
	}
}

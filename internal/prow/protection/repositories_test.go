package protection_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

func read(t *testing.T, text string) *config.Config {
	t.Helper()
	read, err := config.Load(fstest.MapFS{"c.yaml": {Data: []byte(text)}}, config.Files{Config: "c.yaml"}).Config()
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const jobs = "presubmits:\n  org/tested: " +
	"[{name: a, always_run: true, spec: {containers: [{image: i, command: [c]}]}}]\n"

func TestNamedRepositories(t *testing.T) {
	for name, row := range map[string]struct {
		config, base string
		want         []string
	}{
		"nothing": {"", "", nil},
		"a policy's": {"branch-protection: {orgs: {org: {repos: {app: {}}}}}\n", "",
			[]string{"org/app managed"}},
		"one that is tested": {jobs, "", []string{"org/tested"}},
		"tested ones are protected": {jobs + "branch-protection: {protect-tested-repos: true}\n", "",
			[]string{"org/tested managed"}},
		"tested once": {"", jobs, []string{"org/tested"}},
		"both, spelt in two ways": {jobs + "branch-protection: {orgs: {Org: {repos: {Tested: {}}}}}\n", "",
			[]string{"Org/Tested managed"}},
		"both, the policy's later": {jobs + "branch-protection: {orgs: {org: {repos: {tested: {}}}}}\n", "",
			[]string{"org/tested managed"}},
		"of another host":       {"branch-protection: {orgs: {\"https://gerrit\": {repos: {a: {}}}}}\n", "", nil},
		"an organization alone": {"branch-protection: {orgs: {org: {protect: true}}}\n", "", nil},
		"by name, whatever the order": {"branch-protection: {orgs: {b: {repos: {b: {}, a: {}}}, a: {repos: {z: {}}}}}\n", "",
			[]string{"a/z managed", "b/a managed", "b/b managed"}},
	} {
		t.Run(name, func(t *testing.T) {
			comparer := protection.Comparer{Config: read(t, row.config)}
			if row.base != "" {
				comparer.Base = read(t, row.base)
			}
			var got []string
			for _, named := range comparer.Named() {
				text := named.String()
				if named.Managed {
					text += " managed"
				}
				got = append(got, text)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestOrganizationsThatAreProtectedAsAWhole(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                      nil,
		"{orgs: {b: {protect: true}}}":          {"b"},
		"{orgs: {b: {protect: false}, a: {}}}":  {"b"},
		"{protect: true, orgs: {b: {}, a: {}}}": {"a", "b"},
		"{orgs: {b: {repos: {app: {protect: true}}}}}": nil,
	} {
		if text != "" {
			text = "branch-protection: " + text
		}
		if got := (protection.Comparer{Config: read(t, text)}).Organizations(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestUntouchedRepositories(t *testing.T) {
	repository := func(name string, private, archived bool) github.Repository {
		return github.Repository{Repo: github.Repo{Owner: "org", Name: name}, Private: private, Archived: archived}
	}
	for name, row := range map[string]struct {
		repository github.Repository
		want       bool
	}{
		"any":                                   {repository("app", false, false), false},
		"archived":                              {repository("app", false, true), true},
		"private":                               {repository("app", true, false), false},
		"a security fork":                       {repository("app-ghsa-1a2b-3c4d-5e6f", true, false), true},
		"one that is called so, for all to see": {repository("app-ghsa-1a2b-3c4d-5e6f", false, false), false},
	} {
		if got := protection.Untouched(row.repository); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

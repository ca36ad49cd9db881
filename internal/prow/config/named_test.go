package config_test

import (
	"slices"
	"testing"
)

func TestWhatIsNamed(t *testing.T) {
	c := sound(t, files{"config.yaml": `
branch-protection: {orgs: {org: {repos: {repo: {branches: {main: {protect: true}}}, protected: {}}}}}
tide:
  context_options: {orgs: {org: {repos: {repo: {branches: {tided: {}}}, optioned: {}}}}}
  queries: [{repos: [other/queried], includedBranches: [elsewhere]}, {orgs: [org], includedBranches: [included]}]
` + job("a", `branches: ['^release-1\.0$', release-1.1, main]`) + jobItem("b", `branches: ['release-.*', '(a|b)', '', '^v\d$', 'a\/b']`) +
		"postsubmits:\n  org/pushed:\n" + jobItem("c")})
	want := []string{"org/optioned", "org/protected", "org/pushed", "org/repo", "other/queried"}
	if got := c.Repositories(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	want = []string{"a/b", "included", "main", "release-1.0", "release-1.1", "tided"}
	if got := c.Branches("org", "repo"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

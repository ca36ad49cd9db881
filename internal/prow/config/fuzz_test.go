package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"salve/internal/prow/config"
)

// FuzzLoad: no configuration makes reading, or any of the answers, panic or end without
// bound; and what couldn't be read is never a configuration.
func FuzzLoad(f *testing.F) {
	seeds, err := filepath.Glob("testdata/seeds/*.yaml")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range seeds {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content), "", "")
		f.Add("", string(content), "")
		f.Add("", "", string(content))
	}
	f.Fuzz(func(t *testing.T, text, jobs, shard string) {
		loaded := files{"config.yaml": text, "jobs/a.yaml": jobs, "shards/a_prowconfig.yaml": shard}.load()
		c, err := loaded.Config()
		if (c == nil) != (err != nil) || (loaded.Incomplete() || loaded.Refused()) != (err != nil) {
			t.Fatalf("%v %v", c, err)
		}
		if c = loaded.Partial(); c == nil {
			t.Fatal("no part of it")
		}
		for _, branch := range somewhere(c) {
			policy, err := c.Policy(branch)
			var wrong *config.PolicyError
			if err != nil && !errors.Is(err, config.ErrNoPolicy) && !errors.As(err, &wrong) {
				t.Fatal(err)
			}
			if err == nil && !policy.Defined() {
				t.Fatal("an empty policy is none")
			}
			_, _ = c.Protector(branch, config.ProtectorFlags{})
			_, _ = c.ContextPolicy(branch)
			_, _ = c.Fingerprint(branch)
		}
		for _, job := range c.Jobs() {
			job.References()
			if job.Position.File == "" {
				t.Fatalf("%+v has no place", job)
			}
		}
	})
}

// somewhere are a few branches that the configuration speaks about.
func somewhere(c *config.Config) []config.Branch {
	branches := []config.Branch{{Org: "org", Repo: "repo", Name: "main"}}
	for org, o := range c.BranchProtection.Orgs {
		for repo, r := range o.Repos {
			for branch := range r.Branches {
				branches = append(branches, config.Branch{Org: org, Repo: repo, Name: branch})
			}
		}
	}
	for _, jobs := range c.Presubmits {
		if len(jobs) > 0 {
			branches = append(branches, config.Branch{Org: jobs[0].Org, Repo: jobs[0].Repo, Name: "main"})
		}
	}
	return branches[:min(len(branches), 20)]
}

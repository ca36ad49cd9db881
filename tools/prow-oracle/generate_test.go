package proworacle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The small world that configurations are generated over. Names repeat often, so that
// levels meet, contexts collide and expressions overlap.
var (
	orgs     = []string{"alpha", "beta", "gamma"}
	repos    = []string{"one", "two", "three"}
	branches = []string{"main", "release-1.0", "release-1.1", "feature/x", "maintenance", "1.1"}
	contexts = []string{"ci/unit", "ci/e2e", "lint", "external/cla", "unit", "e2e"}
	jobNames = []string{"unit", "e2e", "lint", "build", "verify", "conformance"}
	users    = []string{"ann", "ben", "cid"}
)

// generator writes the YAML of one configuration.
type generator struct {
	*rand.Rand
	out    strings.Builder
	indent int
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.out, "%s%s\n", strings.Repeat("  ", g.indent), fmt.Sprintf(format, args...))
}

func (g *generator) block(name string, body func()) {
	before := g.out.Len()
	g.line("%s:", name)
	start := g.out.Len()
	g.indent++
	body()
	g.indent--
	if g.out.Len() == start { // nothing in it
		text := g.out.String()[:before]
		g.out.Reset()
		g.out.WriteString(text)
	}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }

// some are a few of a list, now and then one twice.
func (g *generator) some(from []string) []string {
	list := make([]string, 0, 3)
	for range g.IntN(4) {
		list = append(list, g.pick(from))
	}
	return list
}

func (g *generator) list(name string, percent int, from []string) {
	if !g.chance(percent) {
		return
	}
	quoted := make([]string, 0, 3)
	for _, value := range g.some(from) {
		quoted = append(quoted, fmt.Sprintf("%q", value))
	}
	g.line("%s: [%s]", name, strings.Join(quoted, ", "))
}

func (g *generator) bool(name string, percent int) {
	if g.chance(percent) {
		g.line("%s: %t", name, g.chance(50))
	}
}

// mostly is a switch that is true more often than not.
func (g *generator) mostly(name string, percent int) {
	if g.chance(percent) {
		g.line("%s: %t", name, g.chance(80))
	}
}

// expressions of branches: overlapping, anchored, with flags, and odd ones.
var expressions = []string{"main", "^main$", "release-.*", `^release-1\.0$`, "ma.n", "feature/", ".*", "(?i)MAIN",
	"1.1", "^(main|maintenance)$", "release-1.1", "x$"}

func (g *generator) policy(level string) {
	protect := map[string]int{"global": 30, "org": 30, "repo": 35, "branch": 75}[level]
	g.mostly("protect", protect)
	g.bool("unmanaged", 12)
	g.bool("enforce_admins", 15)
	g.bool("required_linear_history", 10)
	g.bool("allow_force_pushes", 10)
	g.bool("allow_deletions", 10)
	g.bool("require_manually_triggered_jobs", 20)
	if *signed {
		g.bool("require_signed_commits", 5)
	}
	if g.chance(40) {
		g.block("required_status_checks", func() {
			g.list("contexts", 80, contexts)
			g.bool("strict", 30)
		})
	}
	if g.chance(15) {
		g.block("restrictions", func() { g.actors(true) })
	}
	if g.chance(20) {
		g.block("required_pull_request_reviews", g.reviews)
	}
	switch g.IntN(12) {
	case 0:
		g.list("include", 100, expressions)
	case 1:
		g.list("exclude", 100, expressions)
	}
}

func (g *generator) actors(apps bool) {
	g.list("users", 60, users)
	g.list("teams", 60, users)
	if apps {
		g.list("apps", 15, users)
	}
}

func (g *generator) reviews() {
	if g.chance(60) {
		g.line("required_approving_review_count: %d", g.IntN(4))
	}
	g.bool("dismiss_stale_reviews", 40)
	g.bool("require_code_owner_reviews", 40)
	if g.chance(30) {
		g.block("dismissal_restrictions", func() { g.actors(false) })
	}
	if g.chance(30) {
		g.block("bypass_pull_request_allowances", func() { g.actors(false) })
	}
}

func (g *generator) protection() {
	g.block("branch-protection", func() {
		g.bool("protect-tested-repos", 40)
		g.bool("allow_disabled_policies", 40)
		g.bool("allow_disabled_job_policies", 40)
		g.bool("protect_repos_with_optional_jobs", 30)
		if g.chance(50) {
			g.policy("global")
		}
		g.protectedOrgs()
	})
}

func (g *generator) protectedOrgs() {
	g.block("orgs", func() {
		g.named(orgs, 70, func() {
			g.policy("org")
			g.block("repos", func() {
				g.named(repos, 60, func() {
					g.policy("repo")
					g.block("branches", func() { g.named(branches, 30, func() { g.policy("branch") }) })
				})
			})
		})
	})
}

// named writes an entry for some of the names.
func (g *generator) named(names []string, percent int, body func()) {
	for _, name := range names {
		if g.chance(percent) {
			g.line("%s:", g.key(name))
			g.indent++
			body()
			g.indent--
		}
	}
}

// key quotes a key, or leaves it to YAML what it is: 1.1 is a number then.
func (g *generator) key(name string) string {
	if g.chance(50) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

func (g *generator) contextLevel() {
	g.list("required-contexts", 30, contexts)
	g.list("required-if-present-contexts", 15, contexts)
	g.list("optional-contexts", 15, contexts)
	g.bool("skip-unknown-contexts", 30)
	g.mostly("from-branch-protection", 40)
}

func (g *generator) tide() {
	g.block("tide", func() {
		g.block("context_options", func() {
			g.contextLevel()
			g.block("orgs", func() {
				g.named(orgs, 50, func() {
					g.contextLevel()
					g.block("repos", func() {
						g.named(repos, 50, func() {
							g.contextLevel()
							g.block("branches", func() { g.named(branches, 30, g.contextLevel) })
						})
					})
				})
			})
		})
		g.block("queries", func() {
			for range g.IntN(3) {
				g.line("- repos: [%s/%s]", g.pick(orgs), g.pick(repos))
				g.line("  labels: [lgtm]")
			}
		})
	})
}

func (g *generator) presubmits() {
	g.block("presubmits", func() {
		for _, org := range orgs {
			for _, repo := range repos {
				if g.chance(45) {
					g.block(org+"/"+repo, func() {
						for range 1 + g.IntN(5) {
							g.presubmit()
						}
					})
				}
			}
		}
	})
}

func (g *generator) presubmit() {
	g.line("- name: %s-%d", g.pick(jobNames), g.IntN(200))
	g.indent++
	defer func() { g.indent-- }()
	switch g.IntN(5) {
	case 0, 1:
		g.line("always_run: true")
	case 2:
		g.line("run_if_changed: %q", `^docs/`)
	case 3:
		g.line("skip_if_only_changed: %q", `\.md$`)
	}
	if g.IntN(200) == 0 {
		g.line("run_if_changed: %q", "x") // perhaps beside always_run
	}
	g.bool("optional", 25)
	g.bool("skip_report", 15)
	g.bool("run_before_merge", 15)
	g.list("branches", 40, expressions)
	g.list("skip_branches", 30, expressions)
	if g.chance(10) {
		g.line("context: %s", g.pick(contexts))
	}
	switch g.IntN(500) {
	case 0:
		g.line("namespace: elsewhere")
	case 1:
		g.line("max_concurrency: -1")
	}
	g.line("spec:")
	g.line("  containers:")
	g.line("  - image: alpine")
	g.line("    command: [make]")
}

// configuration is config.yaml and a job file, and perhaps a shard.
type configuration struct{ config, jobs, shard string }

func generate(seed uint64) configuration {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12))}
	take := func() string {
		text := g.out.String()
		g.out.Reset()
		return text
	}
	g.line("pod_namespace: test-pods")
	if g.chance(90) {
		g.protection()
	}
	if g.chance(80) {
		g.tide()
	}
	if g.chance(20) {
		g.presubmits()
	}
	made := configuration{config: take()}
	g.presubmits()
	if made.jobs = take(); made.jobs == "" {
		made.jobs = "periodics: []\n"
	}
	if g.chance(15) {
		g.block("branch-protection", func() {
			g.bool("allow_disabled_policies", 10)
			g.protectedOrgs()
		})
		made.shard = take()
	}
	return made
}

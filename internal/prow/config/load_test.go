package config_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
)

// files is a configuration: config.yaml, jobs below jobs/, shards below shards/.
type files map[string]string

func (f files) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, content := range f {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return tree
}

func (f files) names() config.Files {
	names := config.Files{Config: "config.yaml"}
	for name := range f {
		if strings.HasPrefix(name, "jobs/") {
			names.Jobs = "jobs"
		}
		if strings.HasPrefix(name, "shards/") {
			names.Supplemental = []string{"shards"}
		}
	}
	return names
}

func (f files) load() config.Loaded { return config.Load(f.tree(), f.names()) }

// sound is a configuration in which nothing is wrong.
func sound(t *testing.T, f files) *config.Config {
	t.Helper()
	loaded := f.load()
	c, err := loaded.Config()
	if err != nil {
		t.Fatalf("%v\n%v", err, loaded.Diagnostics)
	}
	return c
}

// job is a file of one presubmit of org/repo, which has a sound pod.
func job(name string, lines ...string) string {
	return "presubmits:\n  org/repo:\n" + jobItem(name, lines...)
}

func jobItem(name string, lines ...string) string {
	text := "  - name: " + name + "\n"
	for _, line := range lines {
		text += "    " + line + "\n"
	}
	return text + "    spec: {containers: [{image: alpine, command: [make]}]}\n"
}

func namesOf(jobs []*config.Job) []string {
	var names []string
	for _, job := range jobs {
		names = append(names, job.Name)
	}
	slices.Sort(names)
	return names
}

func TestJobFilesAreFoundAsProwFindsThem(t *testing.T) {
	c := sound(t, files{
		"config.yaml":                    job("in-config"),
		"jobs/a.yaml":                    job("yaml"),
		"jobs/deep/er/b.yml":             job("deep"),
		"jobs/c.json":                    job("other-suffix"),
		"jobs/README.md":                 "# not YAML: [",
		"jobs/..2026_01_01/d.yaml":       job("configmap-folder"),
		"jobs/..data.yaml":               job("configmap-file"),
		"jobs/.hidden.yaml":              job("one-dot"),
		"jobs/old/e.yaml":                job("ignored-folder"),
		"jobs/f-draft.yaml":              job("ignored-pattern"),
		"jobs/kept/g-draft.yaml":         job("kept"),
		"jobs/.prowignore":               "# not these\nold/\n*-draft.yaml\n",
		"jobs/kept/.prowignore":          "!g-draft.yaml\n",
		"elsewhere/h.yaml":               job("elsewhere"),
		"jobs/compressed/compressed.yml": compressed(t, job("gzip")),
	})
	want := []string{"deep", "gzip", "in-config", "kept", "one-dot", "yaml"}
	if got := namesOf(c.Presubmits["org/repo"]); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestOneFileOfJobs(t *testing.T) {
	f := files{"config.yaml": "", "all": job("unit")}
	c, err := config.Load(f.tree(), config.Files{Config: "config.yaml", Jobs: "all", Root: "/etc/prow"}).Config()
	if err != nil {
		t.Fatal(err)
	}
	want := diagnostic.Position{File: "/etc/prow/all", Line: 3, Column: 5}
	if got := c.Presubmits["org/repo"][0]; got.Name != "unit" || got.Position != want {
		t.Errorf("%s at %v", got.Name, got.Position)
	}
}

// TestNothingIsSilentlySmaller: whatever can't be read makes the whole configuration
// unusable to those who don't ask for a part of it by name.
func TestNothingIsSilentlySmaller(t *testing.T) {
	good := func() files { return files{"config.yaml": "pod_namespace: p\n", "jobs/a.yaml": job("a")} }
	for name, c := range map[string]struct {
		spoil func(files, fstest.MapFS)
		place string
	}{
		"no config.yaml":    {func(_ files, tree fstest.MapFS) { delete(tree, "config.yaml") }, "config.yaml"},
		"no job folder":     {func(_ files, tree fstest.MapFS) { delete(tree, "jobs/a.yaml") }, "jobs"},
		"invalid YAML":      {with("jobs/b.yaml", "a:\n  b: [\n"), "jobs/b.yaml:2:1"},
		"not a mapping":     {with("jobs/b.yaml", "- a\n"), "jobs/b.yaml:1:1"},
		"a folder as file":  {with("jobs/b.yaml/c.txt", ""), ""},
		"wrong type":        {with("jobs/b.yaml", "presubmits:\n  o/r:\n  - always_run: maybe\n"), "jobs/b.yaml:3:17"},
		"number for string": {with("jobs/b.yaml", "presubmits:\n  o/r:\n  - name: 12\n"), "jobs/b.yaml:3:11"},
		"number in branches": {with("jobs/b.yaml", "presubmits:\n  o/r:\n  - branches: [1.10]\n"),
			"jobs/b.yaml:3:16"},
		"broken compression": {with("jobs/b.yaml", "\x1f\x8bnot gzip"), "jobs/b.yaml"},
		"nested too deep":    {with("jobs/b.yaml", "a: "+strings.Repeat("[", 100)+strings.Repeat("]", 100)), "jobs/b.yaml:1:67"},
		"an alias to itself": {with("jobs/b.yaml", "a: &a [*a]\n"), "jobs/b.yaml:1"},
		"unreadable folder":  {func(_ files, tree fstest.MapFS) { tree["jobs/sub"] = &fstest.MapFile{Mode: fs.ModeDir} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := good()
			names, tree := f.names(), f.tree()
			c.spoil(f, tree)
			loaded := config.Load(tree, names)
			got, err := loaded.Config()
			if c.place == "" { // nothing wrong with an empty folder, nor one that has a file's name
				if err != nil || len(got.Presubmits["org/repo"]) != 1 {
					t.Errorf("%v", err)
				}
				return
			}
			var wrong *config.Error
			if got != nil || !errors.As(err, &wrong) || !wrong.Incomplete || !loaded.Incomplete() {
				t.Fatalf("%v, %v", got, err)
			}
			if place := unreadable(loaded.Diagnostics); !strings.HasPrefix(place, c.place) {
				t.Errorf("at %s: %v", place, err)
			}
			if loaded.Partial() == nil || loaded.Partial().PodNamespace.Value == "" {
				t.Error("the rest can't be looked at")
			}
		})
	}
}

// unreadable is the place of the first thing that couldn't be read.
func unreadable(list diagnostic.List) string {
	for _, d := range list {
		if d.Rule == config.RuleUnreadable {
			return d.Position.String()
		}
	}
	return "nowhere"
}

func with(name, content string) func(files, fstest.MapFS) {
	return func(_ files, tree fstest.MapFS) { tree[name] = &fstest.MapFile{Data: []byte(content)} }
}

func TestAliasesAreBounded(t *testing.T) {
	text := "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n"
	for i := range 12 {
		text += strings.ReplaceAll("xNEXT: &xNEXT [*xTHIS, *xTHIS, *xTHIS, *xTHIS, *xTHIS, *xTHIS, *xTHIS, *xTHIS]\n", "NEXT",
			string(rune('b'+i)))
		this := "0"
		if i > 0 {
			this = string(rune('a' + i))
		}
		text = strings.ReplaceAll(text, "THIS", this)
	}
	loaded := files{"config.yaml": text}.load()
	if !loaded.Incomplete() || !strings.Contains(loaded.Diagnostics[0].Message, "nodes") {
		t.Errorf("%v", loaded.Diagnostics)
	}
}

// TestAliasesRepeatNothing: what is wrong in an anchor is said once, and a job that is
// repeated without end is not read without end.
func TestAliasesRepeatNothing(t *testing.T) {
	loaded := files{"config.yaml": "presubmits:\n  o/r:\n" +
		"  - &job {name: a, x: 1, y: 2, y: 3, spec: {containers: [{}]}}\n" +
		strings.Repeat("  - *job\n", 100)}.load()
	dropped := 0
	for _, d := range loaded.Diagnostics {
		if d.Rule == config.RuleDropped {
			dropped++
		}
	}
	if dropped != 1 || len(loaded.Partial().UnknownFields) != 3 {
		t.Errorf("%d duplicates, %d unknown fields", dropped, len(loaded.Partial().UnknownFields))
	}
	many := files{"config.yaml": "periodics:\n- &j {}\n" + strings.Repeat("- *j\n", 60_000)}.load()
	if !many.Incomplete() {
		t.Error("60,000 jobs in a file")
	}
}

func TestAFileHasALargestSize(t *testing.T) {
	for name, content := range map[string]string{
		"plain":      strings.Repeat("# comment\n", 2_000_000),
		"compressed": compressed(t, strings.Repeat("# comment\n", 2_000_000)),
	} {
		if loaded := (files{"config.yaml": "", "jobs/a.yaml": content}).load(); !loaded.Incomplete() {
			t.Errorf("%s: 20 MB were read", name)
		}
	}
}

func TestNamespaces(t *testing.T) {
	c := sound(t, files{"config.yaml": "pod_namespace: test-pods\n"})
	if c.ProwJobNamespace.Value != "default" || c.ProwJobNamespace.Position != (diagnostic.Position{File: "config.yaml"}) {
		t.Errorf("%+v", c.ProwJobNamespace)
	}
	if want := (diagnostic.Position{File: "config.yaml", Line: 1, Column: 16}); c.PodNamespace.Value != "test-pods" ||
		c.PodNamespace.Position != want {
		t.Errorf("%+v", c.PodNamespace)
	}
}

// TestWhatProwDrops is loaded, and said.
func TestWhatProwDrops(t *testing.T) {
	loaded := files{
		"config.yaml": "pod_namespace: a\npod_namespace: b\ndeck: {anything: 1}\nprow_ignored: [x]\nsinker: {}\n",
		"jobs/a.yaml": job("first", "alwys_run: true") + "---\n" + job("second"),
		"jobs/b.yaml": "decorate_all_jobs: true\n",
	}.load()
	c, err := loaded.Config()
	if err != nil {
		t.Fatal(err)
	}
	if c.PodNamespace.Value != "b" || !slices.Equal(namesOf(c.Presubmits["org/repo"]), []string{"first"}) {
		t.Errorf("%+v %v", c.PodNamespace, namesOf(c.Presubmits["org/repo"]))
	}
	var places []string
	for _, d := range loaded.Diagnostics {
		if d.Rule != config.RuleDropped || d.Severity != diagnostic.Warning {
			t.Errorf("%v", d)
		}
		places = append(places, d.Position.String())
	}
	if want := []string{"config.yaml:2:1", "jobs/a.yaml:6:1", "jobs/b.yaml:1:1"}; !slices.Equal(places, want) {
		t.Errorf("%v", loaded.Diagnostics)
	}
	if len(c.UnknownFields) != 1 || c.UnknownFields[0].Path != "presubmits.org/repo[0].alwys_run" ||
		c.UnknownFields[0].Position.String() != "jobs/a.yaml:4:5" {
		t.Errorf("%+v", c.UnknownFields)
	}
}

// TestYAMLIsReadAsProwReadsIt: version 1.1, and JSON's tolerance for the case of keys.
func TestYAMLIsReadAsProwReadsIt(t *testing.T) {
	c := sound(t, files{"config.yaml": `
Branch-Protection:
  Protect: yes
  allow_force_pushes: Off
  orgs:
    org:
      repos:
        repo:
          branches:
            1.10: {protect: on}
            "1.20": {protect: true}
            010: {protect: true}
            yes: &yes {protect: true, enforce_admins: true}
            before: {<<: *yes, protect: false, enforce_admins: null}
            after: {protect: false, <<: *yes}
            several: {<<: [{protect: true}, {protect: false, enforce_admins: true}]}
`})
	if p := c.BranchProtection; !p.Protect.Value || !p.AllowForcePushes.Set || p.AllowForcePushes.Value {
		t.Errorf("%+v", p.Policy)
	}
	branches := c.BranchProtection.Orgs["org"].Repos["repo"].Branches
	for name, want := range map[string]bool{"1.1": true, "1.20": true, "8": true, "true": true, "before": false,
		"after": true, "several": true} {
		if got, listed := branches[name]; !listed || got.Protect.Value != want {
			t.Errorf("%s: %+v", name, got.Protect)
		}
	}
	if !branches["several"].EnforceAdmins.Value || branches["before"].EnforceAdmins.Set {
		t.Errorf("%+v %+v", branches["several"].EnforceAdmins, branches["before"].EnforceAdmins)
	}
}

func TestShards(t *testing.T) {
	base := "branch-protection:\n  protect-tested-repos: true\n  orgs:\n    org:\n      protect: true\n" +
		"      repos: {one: {enforce_admins: true}}\ntide:\n  merge_method: {org: squash}\n  queries: [{repos: [org/one]}]\n"
	shard := "branch-protection:\n  orgs:\n    org:\n      repos:\n        two: {protect: false}\n" +
		"        one: {branches: {main: {protect: true}}}\ntide:\n  merge_method: {org/two: merge}\n" +
		"  queries: [{orgs: [other]}]\nslack_reporter_configs: {org: {channel: x}}\n"
	c := sound(t, files{"config.yaml": base, "shards/a/b_prowconfig.yaml": shard, "shards/a/other.yaml": "sinker: {a: b}"})
	repos := c.BranchProtection.Orgs["org"].Repos
	if !repos["one"].EnforceAdmins.Value || !repos["one"].Branches["main"].Protect.Value || !repos["two"].Protect.Set ||
		len(c.Tide.Queries) != 2 {
		t.Errorf("%+v %+v", repos, c.Tide.Queries)
	}
	if place := repos["two"].Protect.Origin.Position.String(); place != "shards/a/b_prowconfig.yaml:5:15" {
		t.Errorf("%s", place)
	}
	for name, wrong := range map[string]string{
		"a policy twice":           "branch-protection: {orgs: {org: {protect: true}}}",
		"a repo's policy twice":    "branch-protection: {orgs: {org: {repos: {one: {protect: true}}}}}",
		"a switch twice":           "branch-protection: {protect-tested-repos: true}",
		"a merge method twice":     "tide: {merge_method: {org: rebase}}",
		"another section":          "plank: {pod_pending_timeout: 1m}",
		"a namespace":              "pod_namespace: x",
		"another field of tide":    "tide: {context_options: {required-contexts: [x]}}",
		"a known field not looked": "tide: {sync_period: 1m}",
	} {
		if loaded := (files{"config.yaml": base, "shards/x_prowconfig.yaml": wrong}).load(); !loaded.Refused() ||
			loaded.Incomplete() {
			t.Errorf("%s: %v", name, loaded.Diagnostics)
		}
	}
}

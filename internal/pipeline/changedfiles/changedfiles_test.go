package changedfiles_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/changedfiles"
)

// repository is a git repository with one commit, of which everything in the tests
// is seen.
type repository struct {
	*testing.T
	folder string
}

// fleet is a pipeline that names a template, a chart, and a folder with a program.
const fleet = `serviceGroup: Example.Fleet
rolloutName: 'Fleet {{ .fleet.name }}'
resourceGroups:
- name: fleet
  resourceGroup: mgmt
  subscription: sub
  steps:
  - {name: cluster, action: ARM, template: ../templates/cluster.json, parameters: ../templates/parameters.json, deploymentLevel: ResourceGroup}
  - {name: upgrade, action: Shell, command: ./upgrade.sh, workingDir: scripts, shellIdentity: {configRef: fleet.identity}}
  - {name: probe, action: Shell, command: ./bin/probe, shellIdentity: {value: me}}
  - name: agent
    action: Helm
    aksCluster: aks-1
    releaseName: agent
    releaseNamespace: agent
    chartDir: ../charts/agent and more
    valuesFile: ../charts/agent and more/values-für-alle.yaml
    kustoDatabase: logs
    kustoTable: containers
    kustoEndpoint: {resourceGroup: fleet, step: cluster, name: logs}
    identityFrom: {resourceGroup: fleet, step: cluster, name: identity}
`

const config = `fleet:
  name: mgmt
  identity: me
unused: 1
`

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	r := &repository{T: t, folder: t.TempDir()}
	r.git("init", "-q", "-b", "main")
	for name, text := range map[string]string{
		"fleet/pipeline.yaml": fleet, "config.yaml": config, ".gitignore": "*.log\n",
		"templates/cluster.json": "{}\n", "templates/parameters.json": "{}\n", "templates/other.json": "{}\n",
		"charts/agent and more/values-für-alle.yaml": "a: 1\n", "fleet/scripts/upgrade.sh": "#!/bin/sh\n",
		"fleet/bin/probe": "#!/bin/sh\n", "fleet/README.md": "# Fleet\n",
	} {
		r.write(name, text)
	}
	r.commit()
	return r
}

func (r *repository) git(arguments ...string) {
	r.Helper()
	command := exec.Command("git", append([]string{"-C", r.folder, "-c", "user.name=a", "-c", "user.email=a@example.com"},
		arguments...)...)
	if out, err := command.CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v: %s", arguments, err, out)
	}
}

func (r *repository) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) commit() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "any")
}

// since is what changed since a commit, seen from the pipeline's folder.
func (r *repository) since(ref string) *changedfiles.Since {
	r.Helper()
	since, err := changedfiles.From(r.Context(), filepath.Join(r.folder, "fleet"), ref)
	if err != nil {
		r.Fatal(err)
	}
	return since
}

// pipeline is the one in the repository, as it is now.
func (r *repository) pipeline() *pipeline.File {
	r.Helper()
	file, found, err := pipeline.Read(filepath.Join(r.folder, "fleet", "pipeline.yaml"))
	if err != nil || found.Errors() > 0 {
		r.Fatal(err, found)
	}
	return file
}

func TestTouches(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(r *repository)
		what string
	}{
		"nothing": {func(*repository) {}, ""},
		"the pipeline itself": {func(r *repository) { r.write("fleet/pipeline.yaml", fleet+"# more\n") },
			"fleet/pipeline.yaml"},
		"a template": {func(r *repository) { r.write("templates/cluster.json", "[]\n") },
			"templates/cluster.json"},
		"a template that is gone": {func(r *repository) { r.git("rm", "-q", "templates/cluster.json") },
			"templates/cluster.json"},
		"a template that has another name": {func(r *repository) {
			r.git("mv", "templates/cluster.json",
				"templates/c.json")
		}, "templates/cluster.json"},
		"a program": {func(r *repository) { r.write("fleet/bin/probe", "#!/bin/bash\n") },
			"fleet/bin/probe"},
		"what lies where a program runs": {func(r *repository) { r.write("fleet/scripts/library.sh", "\n") },
			"fleet/scripts/library.sh"},
		"a name that git would quote": {func(r *repository) {
			r.write("charts/agent and more/values-für-alle.yaml",
				"a: 2\n")
		}, "charts/agent and more/values-für-alle.yaml"},
		"a new file in a chart": {func(r *repository) {
			r.write("charts/agent and more/templates/new.yaml",
				"a: 2\n")
		}, "charts/agent and more/templates/new.yaml"},
		"what is only staged": {func(r *repository) {
			r.write("templates/cluster.json", "[]\n")
			r.git("add",
				"-A")
		}, "templates/cluster.json"},
		"what was committed since": {func(r *repository) { r.write("templates/cluster.json", "[]\n"); r.commit() },
			"templates/cluster.json"},
		"what is as it was again": {func(r *repository) {
			r.write("templates/cluster.json", "[]\n")
			r.write("templates/cluster.json", "{}\n")
		}, ""},
		"another template":              {func(r *repository) { r.write("templates/other.json", "[]\n") }, ""},
		"what lies beside the pipeline": {func(r *repository) { r.write("fleet/README.md", "# More\n") }, ""},
		"what git ignores":              {func(r *repository) { r.write("fleet/scripts/run.log", "1\n") }, ""},
		"a folder whose name begins as ours": {func(r *repository) { r.write("charts/agent and more too/a.yaml", "a: 1\n") },
			""},
		"what lies beside a build step of which nobody knows what it reads": {func(r *repository) {
			r.write("fleet/pipeline.yaml", "buildStep: {command: make}\n"+fleet)
			r.commit()
			r.git("tag", "-f", "base")
			r.write("fleet/README.md", "# More\n")
		}, "fleet/README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.git("tag", "base")
			test.do(r)
			what, touched := r.since("base").Touches(r.pipeline())
			if filepath.ToSlash(what) != test.what || touched != (test.what != "") {
				t.Errorf("touched by %q (%v), want %q", what, touched, test.what)
			}
		})
	}
}

func TestReconfigures(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		what          string
	}{
		"nothing":                          {config, config, ""},
		"a value that is not used":         {config, strings.Replace(config, "unused: 1", "unused: 2", 1), ""},
		"other lines with the same values": {config, "# why\n\nfleet: {identity: me, name: 'mgmt'}\n", ""},
		"the value of a template": {config, strings.Replace(config, "name: mgmt", "name: eu", 1),
			"fleet.name in config.yaml"},
		"the value of a configRef": {config, strings.Replace(config, "identity: me", "identity: you", 1),
			"fleet.identity in config.yaml"},
		"a value that is not there yet": {"fleet: {name: mgmt}\n", config, "fleet.identity in config.yaml"},
		"a value that is gone":          {config, "fleet: {identity: me}\n", "fleet.name in config.yaml"},
		"what was no configuration":     {"fleet: [\n", config, "config.yaml, which could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.write("config.yaml", test.before)
			r.commit()
			r.write("config.yaml", test.after)
			r.reconfigured("config.yaml", test.what)
		})
	}
}

// reconfigured checks what changed in a configuration since the last commit.
func (r *repository) reconfigured(path, want string) {
	r.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.folder, path)
	}
	config, found, err := pipeline.ReadConfig(path)
	if err != nil || found.Errors() > 0 {
		r.Fatal(err, found)
	}
	what, changed := r.since("HEAD").Reconfigures(r.Context(), r.pipeline(), config)
	if what != want || changed != (want != "") {
		r.Errorf("reconfigured by %q (%v), want %q", what, changed, want)
	}
}

// TestWhatGitCannotTell counts as changed.
func TestWhatGitCannotTell(t *testing.T) {
	r := newRepository(t)
	r.write("new.yaml", config)
	r.reconfigured("new.yaml", "new.yaml, which was not there")
	outside := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(outside, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r.reconfigured(outside, outside+", which is outside of the repository")

	r.write("fleet/pipeline.yaml", "buildStep: {command: /usr/bin/install, args: [scripts/a, bin/a]}\n"+
		strings.Replace(fleet, "../templates/cluster.json", "../../cluster.json", 1))
	r.commit()
	what, touched := r.since("HEAD").Touches(r.pipeline())
	if want := filepath.Join(filepath.Dir(r.folder), "cluster.json") +
		", which is outside of the repository"; what != want || !touched {
		t.Errorf("touched by %q (%v), want %q", what, touched, want)
	}
}

// TestLinkedFolder: a repository that is reached by a link is the same one.
func TestLinkedFolder(t *testing.T) {
	r := newRepository(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.folder, link); err != nil {
		t.Skip("no links here: ", err)
	}
	r.folder = link
	r.write("templates/cluster.json", "[]\n")
	if what, _ := r.since("HEAD").Touches(r.pipeline()); what != filepath.FromSlash("templates/cluster.json") {
		t.Errorf("touched by %q", what)
	}
	r.reconfigured("config.yaml", "")
}

func TestUnknownCommit(t *testing.T) {
	r := newRepository(t)
	for _, ref := range []string{"v1.0", "--help", "", "main:config.yaml"} {
		_, err := changedfiles.From(t.Context(), r.folder, ref)
		var unknown *changedfiles.RefError
		if !errors.As(err, &unknown) || unknown.Ref != ref {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestNoRepository(t *testing.T) {
	folder := t.TempDir()
	if _, err := changedfiles.From(t.Context(), folder, "HEAD"); err == nil || !strings.Contains(err.Error(),
		"not a git repository") {
		t.Errorf("%v", err)
	}
	if root := changedfiles.Root(t.Context(), folder); root != folder {
		t.Errorf("the root is %s, want the folder itself", root)
	}
}

func TestRoot(t *testing.T) {
	r := newRepository(t)
	want, err := filepath.EvalSymlinks(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	if root := changedfiles.Root(t.Context(),
		filepath.Join(r.folder, "fleet", "scripts")); root != filepath.ToSlash(want) {
		t.Errorf("the root is %s, want %s", root, want)
	}
}

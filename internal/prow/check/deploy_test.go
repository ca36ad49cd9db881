package check_test

import (
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/finding"
)

// selfDeployed is an instance whose postsubmit in org/infra deploys it.
func selfDeployed() instance {
	return instance{
		"config.yaml": `prowjob_namespace: prow
pod_namespace: test-pods
branch-protection:
  orgs:
    org:
      repos:
        infra:
          protect: true
tide: {queries: [{orgs: [org]}]}
`,
		"jobs/infra.yaml": `presubmits:
  org/infra:
  - {name: unit, always_run: true, spec: ` + pod + `}
postsubmits:
  org/infra:
  - name: deploy-prow
    branches: [main]
    run_if_changed: ^manifests/
    spec:
      containers: [{image: golang, command: [make]}]
      volumes: [{name: kubeconfig, secret: {secretName: deployer}}]
`,
		"manifests/prow.yaml": deployment("hook", "v1") + deployment("prow-controller-manager", "v1") + deployment("crier",
			"v1") +
			deployment("tide", "v1") + deployment("branchprotector", "v1"),
	}
}

const way = `paths:
- name: kubectl from a laptop
  covers: ["*"]
  document: README.md
  credentials: group prow-oncall, kv/prow-admin
  exercised: 2026-10-01
`

// breakGlass is a break-glass file whose document is README.md.
func breakGlass(t *testing.T, content string) *check.BreakGlass {
	t.Helper()
	read, err := check.ParseBreakGlass("break-glass.yaml", []byte(content),
		func(name string) bool { return name == "README.md" })
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestC1Cycle(t *testing.T) {
	const at = "jobs/infra.yaml:6:5 org/infra job=deploy-prow"
	periodic := selfDeployed().with("jobs/infra.yaml", "periodics:\n- {name: prow-deploy, interval: 1h, spec: "+pod+"}\n")
	for name, test := range map[string]struct {
		files   instance
		way     string
		jobs    []string
		want    []string
		says    []string
		verdict finding.Severity
		reason  string
	}{
		"no way around it": {selfDeployed(), "", nil, []string{"ALERT " + at},
			[]string{"run_if_changed matches manifests/prow.yaml", "needs component hook",
				"needs component prow-controller-manager",
				"needs component tide",
				"needs component crier", "which requires unit", "manifests/prow.yaml:9:16"}, finding.Alert, ""},
		"a way that is proven": {selfDeployed(), way, nil, []string{"WARN " + at},
			[]string{"kubectl from a laptop, exercised 2026-10-01"},
			finding.Warn, ""},
		"a way that isn't": {selfDeployed(), replace(t, way, "2026-10-01", "2024-10-01"), nil, []string{"ALERT " + at}, nil,
			finding.Alert, ""},
		"its Secret is deployed too": {selfDeployed().with("manifests/secret.yaml",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: deployer, namespace: test-pods}\n"), "", nil, []string{"ALERT " +
			at},
			[]string{"needs Secret test-pods/deployer (volume kubeconfig of its pod)"}, finding.Alert, ""},
		"a periodic that nothing of it starts": {periodic.with("manifests/prow.yaml", deployment("hook", "v1")), "", nil,
			nil, nil,
			finding.OK, ""},
		"a periodic": {periodic.with("manifests/prow.yaml", deployment("horologium", "v1")), "", nil,
			[]string{"ALERT jobs/infra.yaml:2:3 job=prow-deploy"}, []string{"needs component horologium"}, finding.Alert, ""},
		"known by what starts it": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "deploy-ci")), "", nil,
			[]string{"ALERT jobs/infra.yaml:6:5 org/infra job=deploy-ci"},
			[]string{"run_if_changed matches manifests/prow.yaml"},
			finding.Alert, ""},
		"known by its name": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "    run_if_changed: ^manifests/\n", "")), "", nil,
			[]string{"ALERT " + at}, []string{"its name says so"}, finding.Alert, ""},
		"what starts it lies deeper in the repository": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "^manifests/", "^prow\\.yaml$")), "", nil,
			[]string{"ALERT " + at}, nil, finding.Alert, ""},
		"it deploys a cluster for Prow's jobs": {selfDeployed().with("jobs/infra.yaml", replace(t,
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "deploy-prow-build-resources"), "^manifests/",
			"^terraform/prow-build/resources/")), "", nil, nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"any manifest starts it: it is another repository's": {selfDeployed().with("jobs/infra.yaml", replace(t,
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "deploy-site"), "^manifests/", "yaml$")), "",
			nil, nil, nil, finding.Unknown, "no job found that deploys manifests"},
		"a folder with that name starts it, which any repository has": {selfDeployed().with("manifests/prow/hook.yaml",
			deployment("hook", "v1")).with("manifests/prow.yaml", "").with("jobs/infra.yaml", replace(t,
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "deploy-site"), "^manifests/",
			"^(api|manifests)/")), "", nil, nil, nil, finding.Unknown, "no job found that deploys manifests"},
		"it deploys something else": {selfDeployed().with("jobs/infra.yaml", replace(t,
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "deploy-site"), "^manifests/", "^site/")), "", nil,
			nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"it tests a deployment": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "ci-prow-deploy-e2e-tests")), "", nil, nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"it is named after what it makes": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "prow-deployment")), "", nil, nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"it deploys again": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "post-prow-redeploy")), "", nil,
			[]string{"ALERT jobs/infra.yaml:6:5 org/infra job=post-prow-redeploy"}, nil, finding.Alert, ""},
		"a presubmit deploys nothing": {selfDeployed().with("jobs/infra.yaml", "presubmits:\n  org/infra:\n"+
			"  - {name: deploy-prow, always_run: true, spec: "+pod+"}\n"), "", nil, nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"it only proposes another version": {selfDeployed().with("jobs/infra.yaml",
			replace(t, selfDeployed()["jobs/infra.yaml"], "deploy-prow", "autobump-prow-for-auto-deploy")), "", nil, nil, nil,
			finding.Unknown, "no job found that deploys manifests"},
		"the user says that none does": {selfDeployed(), "", []string{}, nil, nil, finding.OK, ""},
		"the user says which": {selfDeployed(), "", []string{"deploy-prow"}, []string{"ALERT " + at},
			[]string{"--deploy-job"}, finding.Alert, ""},
		"the user names nobody": {selfDeployed(), "", []string{"deploy"}, nil, nil, finding.Unknown, `no job "deploy"`},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, test.files, nil)
			given.Options.DeployJobs = test.jobs
			if test.way != "" {
				given.BreakGlass = breakGlass(t, test.way)
			}
			found, verdict := run(t, "C1", given)
			expect(t, found, test.want...)
			expectVerdict(t, verdict, test.verdict, test.reason)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says...)
			}
		})
	}
}

func TestC2NoExit(t *testing.T) {
	for name, test := range map[string]struct {
		way  string
		says string // empty: proven
	}{
		"proven":               {way, ""},
		"covers what it needs": {replace(t, way, `["*"]`, "[hook, prow-controller-manager, tide, crier]"), ""},
		"covers too little":    {replace(t, way, `["*"]`, "[hook]"), "does not cover"},
		"document missing":     {replace(t, way, "README.md", "gone.md"), "document gone.md not found"},
		"no document":          {replace(t, way, "  document: README.md\n", ""), "no document says how"},
		"needs Prow":           {replace(t, way, "  credentials", "  uses: [hook]\n  credentials"), "uses hook"},
		"no credentials":       {replace(t, way, "group prow-oncall, kv/prow-admin", `" "`), "credentials not stated"},
		"credentials inside": {replace(t, way, "group prow-oncall,", "Secret prow/admin,"),
			"credentials are in Secret prow/admin"},
		"never exercised":    {replace(t, way, "  exercised: 2026-10-01\n", ""), "never exercised"},
		"exercised long ago": {replace(t, way, "2026-10-01", "2026-05-01"), "more than 180 days ago"},
		"exercised tomorrow": {replace(t, way, "2026-10-01", "2026-12-01"), "in the future"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, selfDeployed().with("manifests/secret.yaml",
				"apiVersion: v1\nkind: Secret\nmetadata: {name: admin, namespace: prow}\n"), nil)
			given.BreakGlass = breakGlass(t, test.way)
			found, _ := run(t, "C2", given)
			if test.says == "" {
				expect(t, found)
				return
			}
			expect(t, found, "WARN break-glass.yaml:2:3 kubectl from a laptop")
			expectEvidence(t, found[0], test.says)
		})
	}
	t.Run("one of two is enough", func(t *testing.T) {
		given := facts(t, selfDeployed(), nil)
		given.BreakGlass = breakGlass(t, way+"- {name: other}\n")
		found, _ := run(t, "C2", given)
		expect(t, found)
	})
	t.Run("no file", func(t *testing.T) {
		found, verdict := run(t, "C2", facts(t, selfDeployed(), nil))
		expect(t, found)
		expectVerdict(t, verdict, finding.Unknown, "needs --break-glass")
	})
	t.Run("no cycle", func(t *testing.T) {
		given := facts(t, selfDeployed(), nil)
		given.Options.DeployJobs = []string{}
		_, verdict := run(t, "C2", given)
		expectVerdict(t, verdict, finding.OK, "")
	})
}

func TestBreakGlassFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"empty":                            "",
		"no way":                           "paths: []\n",
		"no name":                          replace(t, way, "name: kubectl from a laptop", "covers: [hook]") + "",
		"an unknown field":                 way + "  exercized: 2026-11-01\n",
		"an unknown section":               way + "ways: []\n",
		"a command of two lines":           way + "  commands: [\"make\\nmake again\"]\n",
		"an empty command":                 way + "  commands: [\"\"]\n",
		"a command that steers a terminal": way + "  commands: [\"\\e[31mmake\"]\n",
		"a date that is none":              replace(t, way, "2026-10-01", "last week"),
		"no YAML":                          "paths: [\n",
	} {
		if _, err := check.ParseBreakGlass("f", []byte(content), func(string) bool { return true }); err == nil ||
			!strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestC3LockedDoor(t *testing.T) {
	policy := func(lines string) instance {
		return selfDeployed().with("config.yaml", replace(t, selfDeployed()["config.yaml"], "protect: true\n",
			"protect: true\n"+lines))
	}
	for name, test := range map[string]struct {
		files instance
		want  []string
		says  string
	}{
		"admins may merge by hand": {selfDeployed(), nil, ""},
		"not even admins may": {policy("          enforce_admins: true\n"),
			[]string{"WARN config.yaml:9:11 org/infra=main"}, "required: unit"},
		"only bots may push": {policy("          restrictions: {users: [k8s-ci-robot, 'renovate[bot]']}\n"),
			[]string{"INFO config.yaml:7:9 org/infra=main"}, "k8s-ci-robot"},
		"nobody may push but admins": {policy("          restrictions: {users: [], teams: []}\n"),
			[]string{"INFO config.yaml:7:9 org/infra=main"}, "none"},
		"a human may push": {policy("          restrictions: {users: [jane]}\n"), nil, ""},
		"a team may push":  {policy("          restrictions: {teams: [oncall]}\n"), nil, ""},
		"not even admins may, and Prow isn't needed for it": {policy("          enforce_admins: "+
			"true\n").with("manifests/prow.yaml",
			deployment("deck", "v1")), []string{"INFO config.yaml:9:11 org/infra=main"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "C3", facts(t, test.files, nil))
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

func TestC4SameBreath(t *testing.T) {
	bumped := func(names ...string) instance {
		files := selfDeployed()
		for _, name := range names {
			files["manifests/prow.yaml"] = replace(t, files["manifests/prow.yaml"], "/"+name+":v1", "/"+name+":v2")
		}
		return files
	}
	for name, test := range map[string]struct {
		after instance
		jobs  []string
		want  []string
	}{
		"nothing":               {selfDeployed(), nil, nil},
		"the protector alone":   {bumped("branchprotector"), nil, nil},
		"all but the protector": {bumped("hook", "tide", "crier"), nil, nil},
		"both": {bumped("hook", "branchprotector"), nil,
			[]string{"WARN manifests/prow.yaml:61:16 component=branchprotector"}},
		"both, deployed by another": {bumped("hook", "branchprotector"), []string{},
			[]string{"INFO manifests/prow.yaml:61:16 component=branchprotector"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, test.after, selfDeployed())
			given.Options.DeployJobs = test.jobs
			found, _ := run(t, "C4", given)
			for i := range found {
				found[i].Subject.Namespace = ""
			}
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], "branchprotector: v1 → v2", "hook: v1 → v2", "older branchprotector")
			}
		})
	}
}

func TestManifestsThatCannotBeRead(t *testing.T) {
	found, _ := run(t, "manifest-unreadable", facts(t, selfDeployed().with("manifests/broken.yaml", "a: [\n",
		"manifests/chart/Chart.yaml", "name: a\n"), nil))
	expect(t, found, "UNKNOWN manifests/broken.yaml:1:1 manifests/broken.yaml: invalid YAML: line 1: did not find "+
		"expected node content",
		"UNKNOWN manifests/chart/Chart.yaml manifests/chart/Chart.yaml")
	found, _ = run(t, "manifest-unreadable", facts(t, selfDeployed(), nil))
	expect(t, found)
}

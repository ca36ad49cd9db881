package check_test

import (
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/finding"
)

const (
	today     = "gcr.io/k8s-prow/branchprotector:v20190205-d83780367"
	yesterday = "gcr.io/k8s-prow/branchprotector:v20190125-2aca69d"
	tomorrow  = "gcr.io/k8s-prow/branchprotector:v20190206-00000ff"
	deployJob = "  - {name: deploy-prow, run_if_changed: ^manifests/, spec: " + pod + "}\n"
)

// deployed is an instance whose manifests have a CronJob of branchprotector.
func deployed(jobs string) instance {
	const config = "pod_namespace: test-pods\n"
	return instance{"config.yaml": config, "jobs/a.yaml": jobs, "manifests/p.yaml": `apiVersion: batch/v1
kind: CronJob
metadata: {name: branchprotector, namespace: prow}
spec:
  jobTemplate: {spec: {template: {spec: {containers: [{name: p, image: "` + today + `"}]}}}}
`}
}

func TestB8Regress(t *testing.T) {
	const name = "CronJob prow/branchprotector"
	const at, inJob = " namespace=prow component=branchprotector " + name, " job=protect component=branchprotector"
	const atWork = " component=branchprotector in progress: "
	deploys := "postsubmits:\n  org/infra:\n" + deployJob
	cronJob := func(image string) check.Protector { return check.Protector{Deployed: map[string]string{name: image}} }
	running := func(image string) check.Protector {
		protector := cronJob(today)
		protector.Runs = []check.ProtectorRun{{What: "Job prow/p-1", Image: image}, {What: "pod prow/p-1-x", Image: image}}
		return protector
	}
	periodic := func(image string) string {
		return "periodics:\n- {name: protect, interval: 1h, spec: {containers: [{image: \"" + image +
			"\", command: [/app]}]}}\n"
	}
	for title, test := range map[string]struct {
		jobs      string
		protector check.Protector
		want      string
		says      string
		reason    string
	}{
		"as declared": {deploys, cronJob(today), "", "", ""},
		"edited by hand, and Prow deploys": {deploys, cronJob(tomorrow), "ALERT" + at,
			"job deploy-prow deploys manifests", ""},
		"edited by hand, and nothing is known to deploy": {"", cronJob(tomorrow), "WARN" + at, "no job is known to deploy",
			"no job found that deploys"},
		"an older one is deployed": {"", cronJob(yesterday), "ALERT" + at, "is older", "no job found that deploys"},
		"one that no manifest has": {deploys, check.Protector{Deployed: map[string]string{name: today, "CronJob x/y": today}},
			"", "",
			"CronJob x/y runs " + today + ", and no manifest declares it"},
		"declared and not deployed":   {deploys, check.Protector{}, "WARN" + at, "the next deployment brings it", ""},
		"the declared one is at work": {deploys, running(today), "", "", ""},
		"a periodic that says it by its command": {
			deploys + strings.Replace(periodic("p/mirror:1"), "/app]", "/app/branchprotector]", 1),
			cronJob(today), "WARN" + inJob, "files say " + today, ""},
		"a periodic of another agent, and of another program": {deploys + periodic("golang") +
			"- {name: j, agent: jenkins, interval: 1h}\n", cronJob(today), "", "", ""},
		"an older one is at work": {deploys, running(yesterday), "ALERT" + atWork + yesterday,
			"pod prow/p-1-x", ""},
		"a newer one is at work": {deploys, running(tomorrow), "WARN" + atWork + tomorrow, "", ""},
		"a periodic of the same": {deploys + periodic(today), cronJob(today), "", "", ""},
		"an older periodic":      {deploys + periodic(yesterday), cronJob(today), "ALERT" + inJob, "is older", ""},
		"a periodic of an unknown age": {deploys + periodic("p/branchprotector:latest"), cronJob(today),
			"WARN" + inJob, "", ""},
		"CronJobs can't be listed": {deploys, check.Protector{DeployedFailed: "forbidden"}, "", "",
			"CronJobs of branchprotector: forbidden"},
		"runs can't be listed": {deploys, check.Protector{Deployed: map[string]string{name: today}, RunsFailed: "forbidden"},
			"", "",
			"runs of branchprotector: forbidden"},
	} {
		t.Run(title, func(t *testing.T) {
			given := facts(t, deployed(test.jobs), nil)
			given.Protector = &test.protector
			found, verdict := run(t, "B8", given)
			severity := finding.OK
			switch {
			case test.want != "":
				if len(found) != 1 {
					t.Fatalf("%+v", found)
				}
				severity = found[0].Severity
				if got := string(severity) + " " + found[0].Subject.String(); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				expectEvidence(t, found[0], test.says)
			case len(found) > 0:
				t.Errorf("%+v", found)
			case test.reason != "":
				severity = finding.Unknown
			}
			expectVerdict(t, verdict, severity, test.reason)
		})
	}
	_, verdict := run(t, "B8", facts(t, deployed(deploys), nil))
	if expectVerdict(t, verdict, finding.Unknown, "Prow's own cluster"); !verdict.NotGiven {
		t.Error("nobody gave a cluster")
	}
	undeclared := facts(t, deployed(deploys).with("manifests/p.yaml", strings.ReplaceAll(deployed("")["manifests/p.yaml"],
		today, "golang")), nil)
	undeclared.Protector = &check.Protector{Runs: []check.ProtectorRun{{What: "Job a/b", Image: today}}}
	_, verdict = run(t, "B8", undeclared)
	expectVerdict(t, verdict, finding.Unknown, "Job a/b ("+today+"), and neither")
	found, _ := run(t, "B8", facts(t, undeclaredBut(periodic(yesterday)), nil))
	expect(t, found)
}

// undeclaredBut is an instance whose manifests have no branchprotector, and that has jobs.
func undeclaredBut(jobs string) instance {
	return deployed(jobs).with("manifests/p.yaml", "kind: Namespace\n")
}

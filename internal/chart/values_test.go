package chart_test

import (
	"regexp"
	"strings"
	"testing"

	"salve/internal/chart"
)

type values = map[string]any

// TestValuesAreRefused: with the name of the value and the reason, before anything is applied.
func TestValuesAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		values values
		says   string
	}{
		"without an image":      {values{"runbook": "aks-recreate-pool", "args": aks()}, "image.repository is required"},
		"without a runbook":     {image(nil), "runbook is required"},
		"of an unknown runbook": {image(values{"runbook": "fix-all"}), "/runbook"},
		"of an unknown mode":    {image(values{"mode": "daemonset"}), "/mode"},
		"that are misspelt":     {image(values{"argz": []any{}}), "argz"},
		"with a tag as digest":  {values{"image": values{"repository": "r", "digest": "v1"}}, "/image/digest"},
		"of a watch that the runbook does not have": {image(values{"mode": "watch", "runbook": "aks-recreate-pool"}),
			"has no check --watch"},
		"without the namespace of the ProwJobs": {image(values{"mode": "prow-watch", "args": []any{"--config=c"},
			"prow": values{"podNamespace": "test-pods"}}), "prow.jobNamespace has to be set"},
		"with an invalid journal namespace": {rescue("journal", values{"namespace": "Ops_1"}),
			`journal.namespace: "Ops_1" is not a name of a namespace`},
		"without a journal namespace": {rescue("journal", values{"namespace": ""}), `journal.namespace: "" is not a name`},
		"with a journal namespace too long for the one of its exports": {
			rescue("journal", values{"namespace": strings.Repeat("n", 56)}), "at most 55"},
		"with an invalid ProwJob namespace": {rescue("prow", values{"jobNamespace": "-prow"}),
			`prow.jobNamespace: "-prow"`},
		"with an invalid pod namespace": {rescue("prow", values{"podNamespace": "a/b"}), `prow.podNamespace: "a/b"`},
		"with Prow's rights for a runbook that has none": {
			image(values{"runbook": "aks-recreate-pool", "args": aks(), "prow": values{"enabled": true}}),
			"prow.enabled: it is for runbook rescue-stranded-pods alone"},
		"with a port above all": {rescue("networkPolicy", values{"egressPorts": []any{70000}}),
			"/networkPolicy/egressPorts/0"},
		"with port 0": {rescue("networkPolicy", values{"egressPorts": []any{0}}),
			"/networkPolicy/egressPorts/0"},
		"with no port, which is all": {rescue("networkPolicy", values{"egressPorts": []any{}}),
			"/networkPolicy/egressPorts"},
		"with a port of root": {rescue("metrics", values{"port": 80}), "/metrics/port"},
		"with a peer that is anybody": {rescue("networkPolicy", values{"egressTo": []any{values{}}}),
			"/networkPolicy/egressTo/0"},
		"with a peer that is a name": {rescue("metrics", values{"from": []any{"prometheus"}}), "/metrics/from/0"},
		"with a service account that nobody makes": {rescue("serviceAccount", values{"create": false}),
			"serviceAccount.name: required"},
		"with a service account whose name is none": {rescue("serviceAccount", values{"name": "Ops Bot"}),
			"/serviceAccount/name"},
		"with a label that is true, and no text": {rescue("podLabels", values{"azure.workload.identity/use": true}),
			"/podLabels/azure.workload.identity~1use"},
		"with an annotation that is a number": {rescue("podAnnotations", values{"a": 1}), "/podAnnotations/a"},
		"with a variable that is a number":    {rescue("env", []any{values{"name": "A", "value": 1}}), "/env/0/value"},
		"with a pull secret that has no name": {
			image(values{"image": values{"repository": "r", "pullSecrets": []any{"mine"}}}), "/image/pullSecrets/0"},
		"with a label that hides the pod from its NetworkPolicy": {
			rescue("podLabels", values{"app.kubernetes.io/name": "other"}),
			"podLabels: app.kubernetes.io/name is the chart's own"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, one.values, one.says) })
	}
}

// TestNamesOfReleasesMakeNamesOfObjects: Helm takes a name with dots, which a Service does not, and longer ones than a
// CronJob does. Two releases never have one name.
func TestNamesOfReleasesMakeNamesOfObjects(t *testing.T) {
	long := strings.Repeat("a", 51)
	seen := map[string]string{}
	for name, want := range map[string]string{
		"ops": `ops`, "ops-prod": `ops-prod`, "ops.prod": `ops-prod-[0-9a-f]{8}`, "ops.-prod": `ops--prod-[0-9a-f]{8}`,
		long + "b": long + "b", long + "bc": long[:43] + `-[0-9a-f]{8}`, long + "bd": long[:43] + `-[0-9a-f]{8}`,
		long[:42] + ".b": long[:42] + `-[0-9a-f]{8}`,
	} {
		named := release("prow-watch")
		named.Name = name
		objects, err := named.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() != "Service" {
				continue
			}
			got := object.GetName()
			if !regexp.MustCompile("^" + want + "$").MatchString(got) {
				t.Errorf("release %s has the Service %s, want %s", name, got, want)
			}
			if other := seen[got]; other != "" {
				t.Errorf("releases %s and %s both have the Service %s", name, other, got)
			}
			seen[got] = name
		}
	}
	if len(seen) == 0 {
		t.Error("no release has a Service")
	}
}

func TestSubjectsAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		subject values
		says    string
	}{
		"without a name":       {values{"kind": "User"}, "/rbac/subjects/0"},
		"of an unknown kind":   {values{"kind": "Robot", "name": "r"}, "/rbac/subjects/0/kind"},
		"with a misspelt key":  {values{"kind": "User", "name": "a", "apigroup": "b"}, "apigroup"},
		"of another API group": {values{"kind": "User", "name": "a", "apiGroup": "v1"}, `rbac.subjects[0].apiGroup: "v1"`},
		"that are everybody":   {values{"kind": "Group", "name": "system:authenticated"}, "rbac.subjects[0].name: "},
		"a user in a namespace": {values{"kind": "User", "name": "a", "namespace": "b"},
			"rbac.subjects[0].namespace: a User has none"},
		"a service account without a namespace": {values{"kind": "ServiceAccount", "name": "a"},
			"rbac.subjects[0].namespace: required for a ServiceAccount"},
		"a service account of another group": {
			values{"kind": "ServiceAccount", "name": "a", "namespace": "b", "apiGroup": "rbac.authorization.k8s.io"},
			"rbac.subjects[0].apiGroup: a ServiceAccount has none"},
		"a service account with a user's name": {values{"kind": "ServiceAccount", "name": "a@b", "namespace": "b"},
			`rbac.subjects[0].name: "a@b"`},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, rescue("rbac", values{"subjects": []any{one.subject}}), one.says)
		})
	}
	refused(t, rescue("rbac", values{"create": false, "subjects": []any{user("a")}}), "rbac.subjects: they get nothing")
}

// TestArgumentsAreRefused that contradict a value, need another one, or leave the program without what it requires.
func TestArgumentsAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		values values
		says   string
	}{
		"another journal namespace": {flags("--journal-namespace=ops"),
			"--journal-namespace is not taken here: set journal.namespace"},
		"another journal namespace in two words": {flags("--journal-namespace", "ops"), "set journal.namespace"},
		"a journal in the pod": {flags("--journal=/tmp/j"),
			"--journal is not taken here: a folder of the pod"},
		"a watch in a job": {flags("--watch"), "set mode: watch"},
		"events without the right": {flags("--kubernetes-events"),
			"--kubernetes-events is not taken here: set events.enabled"},
		"an approval without the right": {flags("--approve-by=anyone"),
			"--approve-by needs the rights of approvals.enabled: true"},
		"Prow without the right": {flags("--prow-config=/c"),
			"--prow-config needs the rights of prow.enabled: true"},
		"a command": {rescue("args", []any{"run"}), `args: "run" is not a flag`},
		"no selector": {image(values{"runbook": "rescue-stranded-pods"}),
			"rescue-stranded-pods requires --selector, --expected-namespace"},
		"an empty selector":  {rescue("args", []any{"--selector="}), "requires --selector, --expected-namespace"},
		"a selector cut off": {rescue("args", []any{"--expected-namespace=a", "--selector"}), "requires --selector"},
		"no cluster": {image(values{"runbook": "aks-recreate-pool"}),
			"requires --subscription, --resource-group, --cluster"},
		"no configuration": {image(values{"runbook": "repair-branch-protection"}), "requires --config"},
		"no bot": {image(values{"runbook": "unblock-pull-requests", "args": []any{"--config=c"}}),
			"requires --bot"},
		"no Prow": {image(values{"mode": "prow-watch"}), "prow-watch requires --config"},
		"another metric port": {image(values{"mode": "prow-watch", "args": []any{"--config=c", "--metrics-address=:1"}}),
			"set metrics.port"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, one.values, one.says) })
	}
}

// schedules are those that the chart takes, and what it says of others.
var schedules = map[string]string{
	"* * * * *": "", "*/15 0-6/2 1,15 JAN-mar MON-FRI": "", "@hourly": "", "@every 1h30m": "", "? 0 ? * 0": "",
	"08 09 * 12 6": "", "  0 3 * * *": "",
	"":                         "five fields",
	"* * * *":                  "not 4",
	"0 * * * * *":              "not 6",
	"60 * * * *":               `invalid minute "60": it must be from 0 to 59`,
	"0 24 * * *":               `invalid hour "24"`,
	"0 0 0 * *":                `invalid day of month "0"`,
	"0 0 1 13 *":               `invalid month "13"`,
	"0 0 * * 7":                `invalid day of week "7"`,
	"0 0 * foo *":              `invalid month "foo"`,
	"0 0 * * jan":              `invalid day of week "jan"`,
	"30-10 * * * *":            `invalid minute "30-10"`,
	"*/0 * * * *":              `invalid minute "*/0"`,
	"-1 * * * *":               `invalid minute "-1"`,
	"@sometimes":               "@hourly",
	"TZ=Etc/UTC 0 0 * * *":     "the time zone is cronjob.timeZone",
	"CRON_TZ=Asia/X 0 0 * * *": "the time zone is cronjob.timeZone",
}

func TestSchedules(t *testing.T) {
	for schedule, says := range schedules {
		t.Run(schedule, func(t *testing.T) { scheduled(t, values{"schedule": schedule}, says) })
	}
	scheduled(t, values{"schedule": "1,,2 * * * *"}, `invalid minute ""`) // Kubernetes takes it; nobody means it
	for zone, says := range map[string]string{
		"Europe/Berlin": "", "Etc/GMT+5": "", "": "cronjob.timeZone", "Local": "cronjob.timeZone",
		"../etc/passwd": "cronjob.timeZone", "Europe/Berlin ": "cronjob.timeZone",
	} {
		t.Run(zone, func(t *testing.T) { scheduled(t, values{"timeZone": zone}, says) })
	}
}

func scheduled(t *testing.T, cronjob values, says string) {
	t.Helper()
	given := rescue("cronjob", cronjob)
	given["mode"] = "cronjob"
	if says != "" {
		refused(t, given, says)
		return
	}
	if _, err := released(given).Objects(); err != nil {
		t.Error(err)
	}
}

// TestWhatAnEnvironmentMayGiveIsNotRequired of the arguments.
func TestWhatAnEnvironmentMayGiveIsNotRequired(t *testing.T) {
	for name, given := range map[string]values{

		"variables": {"env": []any{values{"name": "SUBSCRIPTION_ID"},
			values{"name": "RESOURCE_GROUP"}, values{"name": "CLUSTER_NAME"}}},
		"a Secret": {"envFrom": []any{values{"secretRef": values{"name": "cloud"}}}},
		"a plan":   {"args": []any{"--plan=/plan/plan.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			given["runbook"] = "aks-recreate-pool"
			if _, err := released(image(given)).Objects(); err != nil {
				t.Error(err)
			}
		})
	}
}

func refused(t *testing.T, given values, says string) {
	t.Helper()
	if _, err := released(given).Objects(); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %q", err, says)
	}
}

func released(given values) chart.Release {
	return chart.Release{Folder: folder, Name: "salve", Namespace: "salve", Values: given}
}

// rescue are the values of a job with one more.
func rescue(key string, value any) values {
	given := image(values{"runbook": "rescue-stranded-pods", "args": []any{"--selector=app=web",
		"--expected-namespace=web"}})
	given[key] = value
	return given
}

// flags are the values of a job with more arguments.
func flags(more ...any) values {
	given := rescue("command", "run")
	given["args"] = append(given["args"].([]any), more...)
	return given
}

func aks() []any {
	return []any{"--subscription=5a1e0000-0000-4000-8000-000000000001", "--resource-group=fleet", "--cluster=aks-1"}
}

package check_test

import (
	"testing"

	"salve/internal/prow/finding"
)

func TestP1Masked(t *testing.T) {
	for name, test := range map[string]struct {
		config  string
		staging bool
		want    []string
	}{
		"a namespace each":           {"prowjob_namespace: a\npod_namespace: b\n", false, nil},
		"a namespace each, staging":  {"prowjob_namespace: a\npod_namespace: b\n", true, nil},
		"ProwJobs in default":        {"pod_namespace: b\n", false, nil},
		"one for both":               {"prowjob_namespace: a\npod_namespace: a\n", false, []string{"INFO config.yaml:2:16"}},
		"one for both, staging":      {"prowjob_namespace: a\npod_namespace: a\n", true, []string{"WARN config.yaml:2:16"}},
		"neither written":            {"plank: {}\n", false, []string{"INFO config.yaml"}},
		"ProwJobs in default, stage": {"pod_namespace: b\n", true, []string{"WARN config.yaml:1:16"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, instance{"config.yaml": test.config}, nil)
			given.Options.Staging = test.staging
			found, _ := run(t, "P1", given)
			expect(t, found, test.want...)
		})
	}
}

// TestP4EditedNamespaces: the change after which the real sinker takes every live pod
// for an orphan is an alert before it is merged.
func TestP4EditedNamespaces(t *testing.T) {
	const both = "prowjob_namespace: prow\npod_namespace: test-pods\n"
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing edited": {both, both, nil},
		"written where it was the default": {"pod_namespace: test-pods\n",
			"prowjob_namespace: default\npod_namespace: test-pods\n",
			nil},
		"prowjob_namespace edited": {both, "prowjob_namespace: ci\npod_namespace: test-pods\n",
			[]string{"ALERT config.yaml:1:20 namespace=ci prowjob_namespace"}},
		"pod_namespace edited": {both, "prowjob_namespace: prow\npod_namespace: pods\n",
			[]string{"ALERT config.yaml:2:16 namespace=pods pod_namespace"}},
		"prowjob_namespace dropped": {both, "pod_namespace: test-pods\n",
			[]string{"ALERT config.yaml namespace=default prowjob_namespace"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "P4", facts(t, instance{"config.yaml": test.after}, instance{"config.yaml": test.before}))
			expect(t, found, test.want...)
			if name == "prowjob_namespace edited" {
				expectEvidence(t, found[0], `from "prow" to "ci"`, "orphan and deletes it", "in main: config.yaml:1:20")
			}
			if name == "pod_namespace edited" {
				expectEvidence(t, found[0], "second pod", "hangs")
			}
		})
	}
}

// TestP4Examples: beside what Kubernetes deploys lie whole instances as examples, of any age.
func TestP4Examples(t *testing.T) {
	const settings = "prowjob_namespace: prow\npod_namespace: test-pods\n"
	whole := func(version string) string { return deployment("hook", version) + deployment("sinker", version) }
	for name, test := range map[string]struct {
		manifests instance
		want      []string
	}{
		"in a folder of their own": {instance{"manifests/hook.yaml": deployment("hook", "v2"),
			"manifests/sinker.yaml": deployment("sinker", "v2"), "manifests/starter/all.yaml": whole("v1")}, nil},
		"several, each in a file": {instance{"manifests/hook.yaml": deployment("hook", "v2"),
			"manifests/starter/gcs.yaml": whole("v1"), "manifests/starter/s3.yaml": whole("v0")}, nil},
		"one that does not agree with itself": {instance{"manifests/hook.yaml": deployment("hook", "v2"),
			"manifests/starter/all.yaml": deployment("hook", "v1") + deployment("sinker", "v0")},
			[]string{"WARN manifests/starter/all.yaml:9:16 namespace=prow images"}},
		"a copy that was left is no example": {instance{"manifests/hook.yaml": deployment("hook", "v2"),
			"manifests/old.yaml": deployment("hook", "v1")},
			[]string{"WARN manifests/hook.yaml:9:16 namespace=prow images"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := instance{"config.yaml": settings}
			for file, content := range test.manifests {
				files[file] = content
			}
			found, _ := run(t, "P4", facts(t, files, files))
			expect(t, found, test.want...)
		})
	}
}

func TestP4Release(t *testing.T) {
	const settings = "prowjob_namespace: prow\npod_namespace: test-pods\n"
	other := func(of string) string { // the component reads a ConfigMap of its own
		return replace(t, deployment(of, "v1"), "configMap: {name: config}", "configMap: {name: other}")
	}
	configMap := func(name, text string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
			", namespace: prow}\ndata:\n  config.yaml: \"" + text + "\"\n---\n"
	}
	const right, wrong = `prowjob_namespace: prow\npod_namespace: test-pods\n`, `prowjob_namespace: prow\npod_namespace: default\n`
	for name, test := range map[string]struct {
		manifests string
		want      []string
		verdict   finding.Severity
		reason    string
	}{
		"one version, one configuration": {deployment("hook", "v1") + deployment("sinker", "v1"), nil, finding.OK, ""},
		"a component that is older": {deployment("hook", "v2") + deployment("sinker", "v2") + deployment("branchprotector",
			"v1"),
			[]string{"WARN manifests/a.yaml:35:16 namespace=prow images"}, finding.Warn, ""},
		"an older one that is not of the core": {deployment("hook", "v2") + deployment("ghproxy", "v1"), nil, finding.OK, ""},
		"two instances in two namespaces": {deployment("hook", "v2") +
			replace(t, deployment("sinker", "v1"), "namespace: prow", "namespace: staging"), nil, finding.OK, ""},
		"another ConfigMap with the same namespaces": {deployment("hook", "v1") + other("sinker") +
			configMap("config", right) + configMap("other", right), nil, finding.OK, ""},
		"another ConfigMap with other namespaces": {deployment("hook", "v1") + other("sinker") + configMap("config", right) +
			configMap("other", wrong),
			[]string{"ALERT manifests/a.yaml:22:16 namespace=prow component=sinker ConfigMap prow/other, key config.yaml"},
			finding.Alert, ""},
		"another ConfigMap that is not here": {deployment("hook", "v1") + other("sinker") + configMap("config", right), nil,
			finding.Unknown, "which sinker reads"},
		"the ConfigMap is not as the configuration": {deployment("hook", "v1") + configMap("config", wrong),
			[]string{"ALERT manifests/a.yaml:9:16 namespace=prow component=hook ConfigMap prow/config, key config.yaml"},
			finding.Alert, ""},
		"no component": {configMap("config", right), nil, finding.Unknown, "no component of Prow"},
		"a file that can't be read": {deployment("hook", "v1") + "a: [\n", nil, finding.Unknown,
			"not all of manifests could be read"},
	} {
		t.Run(name, func(t *testing.T) {
			files := instance{"config.yaml": settings, "manifests/a.yaml": test.manifests}
			found, verdict := run(t, "P4", facts(t, files, files))
			expect(t, found, test.want...)
			expectVerdict(t, verdict, test.verdict, test.reason)
		})
	}
}

package chart_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"

	"salve/internal/chart"
)

const folder = "../../deploy/helm/salve"

// releases are one for each thing that the chart can be.
var releases = map[string]map[string]any{
	"job": {"mode": "job", "runbook": "rescue-stranded-pods",
		"args": []any{"--selector=created-by-prow=true", "--expected-namespace=test-pods"}},
	"cronjob": {"mode": "cronjob", "runbook": "rescue-stranded-pods", "prow": map[string]any{"enabled": true},
		"events": map[string]any{"enabled": true}, "approvals": map[string]any{"enabled": true},
		"args": []any{"--prow-config=/config/config.yaml"}},
	"watch": {"mode": "watch", "runbook": "rescue-stranded-pods",
		"args": []any{"--selector=created-by-prow=true", "--expected-namespace=test-pods"}},
	"prow-watch": {"mode": "prow-watch", "prow": map[string]any{"jobNamespace": "prow", "podNamespace": "test-pods"},
		"args": []any{"--config=/config/config.yaml"}},
	"aks": {"mode": "cronjob", "runbook": "aks-recreate-pool", "command": "check",
		"rbac":      map[string]any{"subjects": []any{user("00000000-0000-4000-8000-000000000001")}},
		"podLabels": map[string]any{"azure.workload.identity/use": "true"}},
	"protection": {"mode": "cronjob", "runbook": "repair-branch-protection"},
	"unblock":    {"mode": "job", "runbook": "unblock-pull-requests", "prow": map[string]any{"jobNamespace": "prow"}},
}

func user(name string) map[string]any {
	return map[string]any{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
}

// release is one of releases, with an image.
func release(name string) chart.Release {
	values := map[string]any{"image": map[string]any{"repository": "registry.invalid/salve"}}
	for key, value := range releases[name] {
		values[key] = value
	}
	return chart.Release{Folder: folder, Name: "salve", Namespace: "salve", Values: values}
}

func TestChartIsLinted(t *testing.T) {
	for name := range releases {
		linter := lint.RunAll(folder, release(name).Values, "salve")
		for _, message := range linter.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

func TestValuesAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		values map[string]any
		says   string
	}{
		"without an image":      {map[string]any{"runbook": "aks-recreate-pool"}, "image.repository is required"},
		"without a runbook":     {image(nil), "runbook is required"},
		"of an unknown runbook": {image(map[string]any{"runbook": "fix-all"}), "/runbook"},
		"of an unknown mode":    {image(map[string]any{"mode": "daemonset"}), "/mode"},
		"that are misspelt":     {image(map[string]any{"argz": []any{}}), "argz"},
		"with a tag as digest": {map[string]any{"image": map[string]any{"repository": "r", "digest": "v1"}},
			"/image/digest"},
		"of a watch that the runbook does not have": {image(map[string]any{"mode": "watch", "runbook": "aks-recreate-pool"}),
			"has no check --watch"},
		"without the namespace of the ProwJobs": {image(map[string]any{"mode": "prow-watch",
			"prow": map[string]any{"podNamespace": "test-pods"}}), "prow.jobNamespace has to be set"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := chart.Release{Folder: folder, Name: "salve", Namespace: "salve", Values: one.values}.Objects()
			if err == nil || !strings.Contains(err.Error(), one.says) {
				t.Errorf("got %v, want %q", err, one.says)
			}
		})
	}
}

func image(values map[string]any) map[string]any {
	merged := map[string]any{"image": map[string]any{"repository": "registry.invalid/salve"}}
	for key, value := range values {
		merged[key] = value
	}
	return merged
}

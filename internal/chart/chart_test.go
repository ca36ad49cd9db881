package chart_test

import (
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
		"args":      []any{"--resource-group=fleet", "--cluster=aks-1"},
		"env":       []any{map[string]any{"name": "SUBSCRIPTION_ID", "value": "5a1e0000-0000-4000-8000-000000000001"}},
		"rbac":      map[string]any{"subjects": []any{user("00000000-0000-4000-8000-000000000001")}},
		"podLabels": map[string]any{"azure.workload.identity/use": "true"}},
	"protection": {"mode": "cronjob", "runbook": "repair-branch-protection",
		"args": []any{"--config=/config/config.yaml"}},
	"unblock": {"mode": "job", "runbook": "unblock-pull-requests", "prow": map[string]any{"jobNamespace": "prow"},
		"args": []any{"--config", "/config/config.yaml", "--bot", "k8s-ci-robot"}},
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
	linted := map[string]map[string]any{"without values": nil}
	for name := range releases {
		linted[name] = release(name).Values
	}
	for name, values := range linted {
		linter := lint.RunAll(folder, values, "salve")
		for _, message := range linter.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

func image(values map[string]any) map[string]any {
	merged := map[string]any{"image": map[string]any{"repository": "registry.invalid/salve"}}
	for key, value := range values {
		merged[key] = value
	}
	return merged
}

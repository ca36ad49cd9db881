package schema_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"salve/internal/pipeline/schema"
)

// validate validates the steps of a pipeline that is right otherwise.
func check(t *testing.T, steps string) string {
	t.Helper()
	var document yaml.Node
	const head = "serviceGroup: S\nrolloutName: R\nresourceGroups:\n- name: fleet\n  resourceGroup: rg\n  subscription: " +
		"sub\n  steps:\n"
	if err := yaml.Unmarshal([]byte(head+steps), &document); err != nil {
		t.Fatal(err)
	}
	_, found := schema.Check("p", document.Content[0], nil, nil)
	lines := make([]string, 0, len(found))
	for _, d := range found {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

func TestSteps(t *testing.T) {
	for rule, test := range map[string]struct{ steps, want string }{
		"a field of another action is unknown": {
			"  - {name: a, action: Ev2Registration, identityFrom: {resourceGroup: g, step: s, name: n}, template: t}",
			`p:8:92: step fleet/a: a step with the action Ev2Registration has no field "template" [unknown-field]`,
		},
		"a field that differs in case is suggested": {
			"  - {name: a, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}, dependson: [{resourceGroup: g, " +
				"step: s}]}",
			`p:8:79: step fleet/a: a step with the action Soak has no field "dependson"; did you mean "dependsOn"? [unknown-field]`,
		},
		"integrations of Grafana are values, and say whether they are enabled": {
			"  - {name: a, action: GrafanaManage, grafanaName: {value: g}, location: {value: l}, identityFrom: " +
				"{resourceGroup: g, step: s, name: n}, adx: {environment: {value: dev}, geographies: {configRef: a.b}, " +
				"scenario: {value: x}, targetResourceId: text, enable: {value: 'true'}}}",
			"p:8:241: step fleet/a: \"targetResourceId\" must be a mapping, and this is a string [wrong-type]\n" +
				"p:8:247: step fleet/a: adx has no field \"enable\"; did you mean \"enabled\"? [unknown-field]\n" +
				"p:8:142: step fleet/a: adx needs \"enabled\" [missing-field]",
		},
		"an unknown action is suggested": {
			"  - {name: a, action: shell}",
			`p:8:23: step fleet/a: there is no action "shell"; did you mean "Shell"? [unknown-action]`,
		},
		"a generated action is not written": {
			"  - {name: a, action: SafeFly}",
			`p:8:23: step fleet/a: steps of the action SafeFly are generated, never written; remove the step [unknown-action]`,
		},
		"a step has an action": {
			"  - {name: a}",
			`p:8:5: step fleet/a: a step needs "action" [missing-field]`,
		},
		"a number is no string": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, timeout: 10}",
			`p:8:78: step fleet/a: "timeout" must be a string, and this is a number; write it in quotes: "10" [wrong-type]`,
		},
		"a timeout has one unit": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, timeout: 1h30m}",
			`p:8:78: step fleet/a: "timeout" "1h30m": it must be a whole number above 0 with h, m or s behind it, such as 90m [wrong-value]`,
		},
		"a timeout is above 0 and can be counted": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, timeout: 99999999999h}",
			`p:8:78: step fleet/a: "timeout" "99999999999h": it must be a whole number above 0 with h, m or s behind it, such as 90m [wrong-value]`,
		},
		"a template is validated when it is resolved": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, timeout: '{{ .a }}'}", "",
		},
		"a template without quotes is a mapping": {
			"  - {name: a, action: Shell, command: {{ .a }}, shellIdentity: {value: i}}",
			`p:8:39: step fleet/a: "command" must be a string, and this is a mapping [wrong-type]`,
		},
		"a variable has one source": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, variables: [{name: V, value: x, " +
				"configRef: a.b}]}",
			`p:8:81: step fleet/a: a variable needs exactly one of value, configRef or input [missing-field]`,
		},
		"retries are bounded": {
			"  - {name: a, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}, automatedRetry: " +
				"{maximumRetryCount: 11}}",
			`p:8:115: step fleet/a: "maximumRetryCount" 11: it must be a whole number from 0 to 10 [wrong-value]`,
		},
		"a choice is suggested": {
			"  - {name: a, action: ARM, template: t, parameters: p, deploymentLevel: ResourceGroups}",
			`p:8:73: step fleet/a: "deploymentLevel" "ResourceGroups": it must be ResourceGroup or Subscription; did you mean "ResourceGroup"? [wrong-value]`,
		},
		"what an action needs depends on a field": {
			"  - {name: a, action: Pav2, operation: ManageAppId, secretKeyVault: {value: v}, secretName: {value: s}}",
			`p:8:5: step fleet/a: a step with the action Pav2 whose operation is ManageAppId needs smeAppidParameter [missing-field]`,
		},
		"of several sets of fields the nearest is missed": {
			"  - {name: a, action: ImageMirror, targetACR: {value: a}, sourceRegistry: {value: r}, repository: {value: r}, " +
				"digest: {value: d}, publicSource: true}",
			`p:8:5: step fleet/a: a step with the action ImageMirror needs shellIdentity [missing-field]`,
		},
		"a flag that is false does not stand for what it would excuse": {
			"  - {name: a, action: ImageMirror, targetACR: {value: a}, sourceRegistry: {value: r}, repository: {value: r}, " +
				"digest: {value: d}, shellIdentity: {value: i}, publicSource: false, pullSecretName: {value: n}}",
			`p:8:5: step fleet/a: a step with the action ImageMirror needs pullSecretKeyVault [missing-field]`,
		},
		"an observe command is not empty": {
			"  - {name: a, action: Shell, command: x, shellIdentity: {value: i}, observe: ''}",
			`p:8:78: step fleet/a: "observe" is empty [wrong-value]`,
		},
		"a step of another action has no observe command": {
			"  - {name: a, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}, observe: x}",
			`p:8:79: step fleet/a: a step with the action Soak has no field "observe" [unknown-field]`,
		},
		"a name has no slash": {
			"  - {name: ../a, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: step fleet/../a: "name" "../a" has a slash: a step is recorded as GROUP/STEP, and that would name two ` +
				`steps alike; write a hyphen in its place [wrong-value]`,
		},
		"a name can be seen": {
			"  - {name: \"a\\u202eb\", action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: step fleet/a` + "\u202e" + `b: "name" "a\u202eb" has characters that can't be seen, so that nobody could ` +
				`name it [wrong-value]`,
		},
		"a name has something of what names are made of": {
			"  - {name: '...', action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: step fleet/...: "name" "...": it must be letters, digits and hyphens [wrong-value]`,
		},
		"a name is as long as the schema allows": {
			"  - {name: the-night-in-which-a-cluster-was-made, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: step fleet/the-night-in-which-a-cluster-was-made: "name" "the-night-in-which-a-cluster-was-made" is ` +
				"longer than 34 characters [wrong-value]",
		},
		"a name is not empty": {
			"  - {name: '', action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: "name" is empty [wrong-value]`,
		},
		"what the schema lets pass in a name is a warning": {
			"  - {name: deploy svc, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}",
			`p:8:12: warning: step fleet/deploy svc: "name" "deploy svc" isn't letters, digits and hyphens only: the schema ` +
				`lets it pass, and the step runs; in names in Azure each other character becomes a hyphen [name-characters]`,
		},
		"an empty dependsOn is a mistake, which the schema lets pass": {
			"  - {name: a, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}, dependsOn: []}",
			`p:8:90: warning: step fleet/a: "dependsOn" is an empty list; remove it [list-length]`,
		},
		"a runbook is given scalars and values": {
			"  - {name: a, action: Runbook, runbook: r, with: {pool: system, threshold: 10, cluster: {configRef: a.b}}}", "",
		},
		"a step is a mapping": {
			"  - cluster",
			`p:8:5: a step must be a mapping, and this is a string [wrong-type]`,
		},
		"validation steps are Shell steps, and say what they validate": {
			"  - {name: s, action: Soak, duration: 4h, since: {resourceGroup: g, step: s}}\n  validationSteps:\n  - {name: a, " +
				"action: Soak}\n  - {name: b, action: Shell, command: x, shellIdentity: {value: i}}",
			"p:10:23: step fleet/a: a validation step is a Shell or a ProwJob step, and this is Soak [unknown-action]\n" +
				`p:11:5: step fleet/b: a step with the action Shell needs "validation" [missing-field]`,
		},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := check(t, test.steps); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// The shapes of pipeline.schema.v1 that several actions share. Where the schema
// leaves a mapping open, this one does not: a field that nobody reads is a
// mistake.
var (
	stepRef     = record{called: "a reference to a step", fields: must(someText, "resourceGroup", "step")}
	externalRef = record{called: "a reference to a step of another service",
		fields: must(someText, "serviceGroup", "resourceGroup", "step")}

	input = record{called: "an input", fields: must(someText, "resourceGroup", "step", "name"),
		then: func(c *checker, node *yaml.Node) {
			if c.facts != nil {
				c.facts.Inputs = append(c.facts.Inputs, node)
			}
		}}
	value = record{called: "a value", fields: valueFields, demands: exactlyOne("value", "configRef", "input")}

	valueFields = slices.Concat(may(literalText{}, "value"), may(configRef{}, "configRef"), may(input, "input"))

	variables = list{of: record{
		called: "a variable", fields: slices.Concat(must(someText, "name"), valueFields),
		demands: exactlyOne("value", "configRef", "input"),
	}}
	retry = record{called: "automatedRetry", fields: slices.Concat(
		may(list{of: anyText, most: 16, meant: true}, "errorContainsAny"),
		may(number{most: 10}, "maximumRetryCount"),
		may(pause{}, "durationBetweenRetries"),
	)}
	artifact = record{called: "a reference to an artifact", fields: slices.Concat(
		may(anyText, "artifactName", "buildId", "adoProject"),
		may(names{of: anyText}, "fileSourceToDestination"),
	)}
	constraint = record{called: "an execution constraint", fields: slices.Concat(
		may(flag{}, "singleton"),
		may(list{of: oneOf("public", "ff", "mc", "usnat", "ussec", "bleu")}, "clouds"),
		may(list{of: oneOf("int", "stg", "prod")}, "environments"),
		may(list{of: someText}, "regions"),
	)}
)

// everyStep is what steps of all actions have. The last line is Salve's own.
var everyStep = slices.Concat(
	must(name{most: 34}, "name"),
	must(someText, "action"),
	may(list{of: externalRef, filled: true, meant: true}, "externalDependsOn"),
	may(list{of: stepRef, filled: true, meant: true}, "dependsOn"),
	may(flag{}, "omitFromServiceGroupCompletion"),
	may(retry, "automatedRetry"),
	may(flag{}, "idempotent"),
)

// theFile is the whole of a pipeline. What is Salve's own stands at the end of
// each record.
var theFile = record{called: "a pipeline", fields: slices.Concat(
	may(oneOf("pipeline.schema.v1"), "$schema"),
	must(someText, "serviceGroup", "rolloutName"),
	must(list{of: group{}}, "resourceGroups"),
	may(record{called: "buildStep", fields: slices.Concat(may(anyText, "command"), may(list{of: anyText}, "args"))},
		"buildStep"),
	may(revision{}, "revision"),
	may(record{called: "service", fields: slices.Concat(
		may(someText, "runsOn"),
		may(flag{}, "selfDeploys"),
		may(record{called: "rollback", fields: must(someText, "runsOn", "command")}, "rollback"),
	)}, "service"),
)}

var resourceGroup = record{called: "a resource group", fields: slices.Concat(
	must(name{most: 12}, "name"),
	must(someText, "resourceGroup", "subscription"),
	must(list{of: step{}}, "steps"),
	may(list{of: step{validation: true}}, "validationSteps"),
	may(flag{}, "stamped"),
	may(list{of: constraint}, "executionConstraints"),
	may(record{called: "subscriptionProvisioning", fields: slices.Concat(
		may(value, "displayName", "airsRegisteredUserPrincipalId", "certificateDomains", "backfillSubscriptionId"),
		may(someText, "roleAssignment"),
	), demands: either([]string{"displayName", "roleAssignment"}, []string{"backfillSubscriptionId"})},
		"subscriptionProvisioning"),
	may(anyText, "aksCluster"),
)}

// group is a resource group. Its name is known before its steps are validated.
type group struct{}

func (group) check(c *checker, what string, node *yaml.Node) {
	c.group = textOf(node, "name")
	resourceGroup.check(c, what, node)
}

// step is a step, whose action says which fields it has.
type step struct{ validation bool }

func (s step) check(c *checker, _ string, node *yaml.Node) {
	if name := textOf(node, "name"); name != "" {
		c.step = c.group + "/" + name
	}
	c.facts = &Facts{Step: c.step}
	c.steps[node] = c.facts
	defer func() { c.step, c.facts = "", nil }()
	if !c.kind("a step", node, yaml.MappingNode, "a mapping") {
		return
	}
	action := fieldOf(node, "action")
	shape, known := actions[textOf(node, "action")]
	if !known {
		shape = ownAction(textOf(node, "action"))
	}
	switch {
	case action == nil || action.Kind != yaml.ScalarNode:
		record{called: "a step", fields: everyStep}.complete(c, node, nil)
	case action.Value == "SafeFly":
		c.add(action, "unknown-action", "remove the step", "steps of the action SafeFly are generated, never written")
	case !known && !c.isOwn(action.Value):
		c.add(action, "unknown-action", adviseAction(action.Value), "there is no action %q", action.Value)
	case s.validation && action.Value != "Shell" && action.Value != "ProwJob":
		c.add(action, "unknown-action", "", "a validation step is a Shell or a ProwJob step, and this is %s", action.Value)
	case s.validation:
		gate := must(list{of: oneOf("Internal", "GA")}, "validation")
		gate[0].required = action.Value == "Shell" // the schema says no more of other validation steps
		shape.fields = slices.Concat(shape.fields, gate)
		shape.check(c, "a step", node)
	default:
		shape.check(c, "a step", node)
	}
}

package template_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim/template"
)

func TestParameters(t *testing.T) {
	const declared = `"parameters": {
		"name": {"type": "string", "minLength": 2, "maxLength": 4, "allowedValues": ["ab", "abc", "toolong"]},
		"count": {"type": "int", "defaultValue": "[length(parameters('name'))]", "maxValue": 3},
		"secret": {"type": "secureString", "defaultValue": "", "allowedValues": ["", "open"]},
		"set": {"type": "array", "defaultValue": [], "allowedValues": ["x", "y"]},
		"maybe": {"type": "object", "nullable": true}
	}, "resources": []`
	for name, row := range map[string]struct{ given, want string }{
		"missing":                  {`{}`, "template parameter 'name' at line '3' and column '11' is not provided"},
		"undeclared":               {`{"name": {"value": "ab"}, "color": {"value": 1}}`, "'color' is not in the template"},
		"without value":            {`{"name": {}}`, "InvalidDeploymentParameterValue"},
		"a reference":              {`{"name": {"reference": {"keyVault": {}}}}`, "key vault"},
		"wrong type":               {`{"name": {"value": 1}}`, "Expected a value of type 'String'. Actual type 'Integer'"},
		"no integer":               {`{"name": {"value": "ab"}, "count": {"value": 1.5}}`, "Actual type 'Float'"},
		"not allowed":              {`{"name": {"value": "cd"}}`, "'cd' for the template parameter 'name' is not valid"},
		"too long":                 {`{"name": {"value": "toolong"}}`, "its length is 7"},
		"too large":                {`{"name": {"value": "ab"}, "count": {"value": 4}}`, "its value is 4"},
		"array of what is allowed": {`{"name": {"value": "ab"}, "set": {"value": ["x", "x"]}}`, ""},
		"array of other things":    {`{"name": {"value": "ab"}, "set": {"value": ["x", "z"]}}`, "not part of the allowed value(s)"},
		"any case of a name":       {`{"NAME": {"value": "abc"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bind(declared, row.given)
			if (row.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
		})
	}
	_, err := bind(declared, `{"name": {"value": "ab"}, "secret": {"value": "hunter2"}}`)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret must be refused and not be shown: %v", err)
	}
	if count := bound(t, declared, `{"name": {"value": "abc"}}`).Parameters()["count"]; fmt.Sprint(count.Value) != "3" || count.Type != "Int" {
		t.Errorf("the default came to %v", count)
	}
}

// outline is the resources of a plan: the last part of the ID, then what each needs.
func outline(plan *template.Plan) []string {
	short := func(i int) string {
		id := plan.Resources[i].ID
		return id[strings.LastIndex(id, "/")+1:]
	}
	var lines []string
	for i, resource := range plan.Resources {
		line := short(i)
		for _, need := range resource.Needs {
			line += " " + short(need)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestDependencies(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want []string
	}{
		"by name, ID, and type": {`"resources": [
			{"type": "N/t", "name": "c", "apiVersion": "1", "dependsOn": ["a", "[resourceId('N/t', 'b')]", "N/t/a"]},
			{"type": "N/t", "name": "b", "apiVersion": "1"}, {"type": "N/t", "name": "a", "apiVersion": "1"}]`, []string{"c b a", "b", "a"}},
		"what is left out is no dependency": {`"resources": [
			{"type": "N/t", "name": "a", "apiVersion": "1", "dependsOn": ["b"]}, {"type": "N/t", "name": "b", "apiVersion": "1", "condition": false}]`, []string{"a"}},
		"a copy and those after it": {`"resources": [
			{"type": "N/t", "name": "[concat('c', copyIndex(1))]", "apiVersion": "1", "copy": {"name": "loop", "count": 2}},
			{"type": "N/t", "name": "z", "apiVersion": "1", "dependsOn": ["loop"]}]`, []string{"c1", "c2", "z c1 c2"}},
		"a serial copy": {`"resources": [
			{"type": "N/t", "name": "[string(copyIndex())]", "apiVersion": "1", "copy": {"name": "loop", "count": 5, "mode": "serial", "batchSize": 2}}]`,
			[]string{"0", "1", "2 0 1", "3 0 1", "4 2 3"}},
		"a copy of none": {`"resources": [
			{"type": "N/t", "name": "x", "apiVersion": "1", "copy": {"name": "loop", "count": 0}}, {"type": "N/t", "name": "z", "apiVersion": "1", "dependsOn": ["loop"]}]`, []string{"z"}},
		"a reference by name is one, by ID it is none": {`"resources": [
			{"type": "N/t", "name": "a", "apiVersion": "1"},
			{"type": "N/t", "name": "b", "apiVersion": "1",
			 "properties": {"x": "[reference('a').y]", "z": ["[concat('1', reference('c').y)]"]}},
			{"type": "N/t", "name": "c", "apiVersion": "1", "properties": {"x": "[reference(resourceId('N/t', 'a')).y]"}}]`, []string{"a", "b a c", "c"}},
		"symbolic names": {`"languageVersion": "2.0", "resources": {
			"first": {"type": "N/t", "name": "a", "apiVersion": "1", "dependsOn": ["last"]},
			"last": {"existing": true, "type": "N/t", "name": "z", "apiVersion": "1"},
			"loop": {"type": "N/t", "name": "[concat('l', copyIndex())]", "apiVersion": "1",
				"copy": {"name": "loop", "count": 2}, "dependsOn": ["first"]},
			"one": {"type": "N/t", "name": "o", "apiVersion": "1", "properties": {"x": "[reference(format('loop[{0}]', 1)).y]"}}}`, []string{"a z", "z", "l0 a", "l1 a", "o l1"}},
		"children": {`"resources": [
			{"type": "N/t", "name": "p", "apiVersion": "1",
			 "resources": [{"type": "u", "name": "q", "apiVersion": "1", "dependsOn": ["p"]}]},
			{"type": "N/t/u", "name": "p/r", "apiVersion": "1", "dependsOn": ["p/q"]}]`, []string{"p", "q p", "r q"}},
	} {
		t.Run(name, func(t *testing.T) {
			if difference := cmp.Diff(row.want, outline(bound(t, row.body, `{}`))); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	plan := bound(t, `"resources": [
		{"type": "N/t/u", "name": "a/b", "apiVersion": "1"},
		{"type": "Microsoft.Resources/resourceGroups", "name": "g", "apiVersion": "1"},
		{"type": "E/x", "name": "y", "apiVersion": "1", "scope": "[resourceId('other', 'N/t', 'a')]"},
		{"type": "E/x", "name": "z", "apiVersion": "1", "scope": "N/t/a"},
		{"type": "Microsoft.Resources/deployments", "name": "d", "apiVersion": "1", "resourceGroup": "other"}]`, `{}`)
	want := []string{
		"/subscriptions/S/resourceGroups/G/providers/N/t/a/u/b in G",
		"/subscriptions/S/resourceGroups/g in ",
		"/subscriptions/S/resourceGroups/other/providers/N/t/a/providers/E/x/y in other",
		"/subscriptions/S/resourceGroups/G/providers/N/t/a/providers/E/x/z in G",
		"/subscriptions/S/resourceGroups/other/providers/Microsoft.Resources/deployments/d in other",
	}
	var got []string
	for _, resource := range plan.Resources {
		got = append(got, resource.ID+" in "+resource.Group)
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

func TestBodies(t *testing.T) {
	plan := bound(t, `"parameters": {"names": {"type": "array", "defaultValue": ["x", "y"]}}, "resources": [
		{"type": "N/t", "name": "a", "apiVersion": "1", "location": "[resourceGroup().location]",
		 "comments": "none", "sku": {"name": "s"},
		 "properties": {"[[odd]": 12345678901234567890, "seen": "[reference('there').state]",
			"copy": [{"name": "subnets", "count": "[length(parameters('names'))]",
				"input": {"name": "[parameters('names')[copyIndex('subnets')]]"}}]}},
		{"type": "N/t", "name": "there", "apiVersion": "1"}]`, `{}`)
	azure := things{"/subscriptions/s/resourcegroups/g/providers/n/t/there": `{"properties": {"state": "fine"}}`}
	want := object(`{"location": "westeurope", "sku": {"name": "s"},
		"properties": {"[odd]": 12345678901234567890, "seen": "fine", "subnets": [{"name": "x"}, {"name": "y"}]}}`)
	got, err := plan.Body(plan.Resources[0], azure, false)
	if difference := cmp.Diff(want, got); difference != "" || err != nil {
		t.Error(difference, err)
	}
	var missing *template.MissingError
	if _, err := plan.Body(plan.Resources[0], things{}, false); !errors.As(err, &missing) {
		t.Errorf("got %v, want a missing resource", err)
	}
	got, err = plan.Body(plan.Resources[0], things{}, true)
	if err != nil || got["properties"].(map[string]any)["seen"] != "[reference('there').state]" {
		t.Errorf("in a preview: %v, %v", got, err)
	}
}

// nested is a template inside of a template, evaluated within it (outer) or by itself (inner).
const nested = `"parameters": {"who": {"type": "string", "defaultValue": "outer"}}, "resources": [{
	"type": "Microsoft.Resources/deployments", "name": "n", "apiVersion": "2021-04-01",
	"properties": {"mode": "Incremental", "expressionEvaluationOptions": {"scope": "%s"}, "template": {` + head + `,
		"parameters": {"who": {"type": "string", "defaultValue": "inner"}}, "resources": [],
		"outputs": {"who": {"type": "string", "value": "[parameters('who')]"}, "escaped": {"type": "string", "value": "[[not[]"}}}}}]`

func TestNestedTemplatesAreEvaluatedInTheirScope(t *testing.T) {
	for _, scope := range []string{"outer", "inner"} {
		outer := bound(t, fmt.Sprintf(nested, scope), `{}`)
		body, err := outer.Body(outer.Resources[0], things{}, false)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := outer.Nested(outer.Resources[0], encoded(t, body["properties"].(map[string]any)["template"]))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := inner.Bind(nil, site)
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := plan.Outputs(things{})
		if err != nil || outputs["who"].Value != scope || outputs["escaped"].Value != "[not[]" {
			t.Errorf("%s: %v, %v", scope, outputs, err)
		}
	}
}

func TestBadTemplatesAreRefused(t *testing.T) {
	resource := func(rest string) string {
		return `"resources": [{"type": "N/t", "name": "a", "apiVersion": "1", ` + rest + `}]`
	}
	for name, row := range map[string]struct{ body, want string }{
		"no resources":       {`"outputs": {}`, "Required property 'resources' not found"},
		"not JSON":           {`"resources": [}`, "not valid JSON at line '2' and column '15'"},
		"unknown section":    {`"resources": [], "parameter": {}`, "'parameter' at line '2'"},
		"functions":          {`"resources": [], "functions": [{}]`, "not supported"},
		"unknown type":       {`"resources": [], "parameters": {"a": {"type": "text"}}`, "its type must be one of"},
		"bad expression":     {resource(`"tags": {"x": "[oops()]"}`), "'oops' is not valid"},
		"no name":            {`"resources": [{"type": "N/t", "apiVersion": "1"}]`, "has no property 'name'"},
		"segments":           {`"resources": [{"type": "N/t/u", "name": "a", "apiVersion": "1"}]`, "incorrect segment lengths"},
		"unknown dependency": {resource(`"dependsOn": ["b"]`), "'b' is not defined in the template"},
		"an ambiguous name": {`"resources": [{"type": "N/t", "name": "a", "apiVersion": "1"}, {"type": "N/u", "name": "a", "apiVersion": "1"},
			{"type": "N/t", "name": "b", "apiVersion": "1", "dependsOn": ["a"]}]`, "is that of several resources"},
		"a cycle":             {`"resources": [{"type": "N/t", "name": "a", "apiVersion": "1", "dependsOn": ["b"]}, {"type": "N/t", "name": "b", "apiVersion": "1", "dependsOn": ["a"]}]`, "Circular dependency detected on resource: '/subscriptions/S/resourceGroups/G/providers/N/t/a'"},
		"a cycle of one":      {resource(`"properties": {"x": "[reference('a').y]"}`), "Circular dependency"},
		"twice":               {`"resources": [{"type": "N/t", "name": "a", "apiVersion": "1"}, {"type": "n/T", "name": "A", "apiVersion": "1"}]`, "defined multiple times"},
		"condition":           {resource(`"condition": "yes"`), "must be a boolean"},
		"too many copies":     {resource(`"copy": {"name": "c", "count": 801}`), "integer from 0 to 800"},
		"reference in a name": {`"resources": [{"type": "N/t", "name": "[reference('x').y]", "apiVersion": "1"}]`, "is not expected here"},
		"default in a cycle":  {`"resources": [], "parameters": {"a": {"type": "string", "defaultValue": "[parameters('a')]"}}`, "refers to itself"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bind(row.body, `{}`)
			var refused *template.Error
			if !errors.As(err, &refused) || refused.Code != "InvalidTemplate" || !strings.Contains(refused.Message, row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
		})
	}
}

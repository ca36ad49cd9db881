package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim/template"
)

const head = `"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0"`

// site is where the tests' templates are deployed.
var site = template.Site{
	Tenant: "T", Subscription: "S", Group: "G", GroupLocation: "westeurope", Deployment: "D", Mode: "Incremental",
	Now: time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC),
}

// things are an Azure of resources by ID, in lower case.
type things map[string]string

func (t things) Resource(id string) (map[string]any, bool) {
	text, there := t[strings.ToLower(id)]
	if !there {
		return nil, false
	}
	return object(text), true
}

func object(text string) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return value
}

func bound(t *testing.T, body, parameters string) *template.Plan {
	t.Helper()
	plan, err := bind(body, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func bind(body, parameters string) (*template.Plan, error) {
	parsed, err := template.Parse([]byte("{" + head + ",\n" + body + "}"))
	if err != nil {
		return nil, err
	}
	return parsed.Bind(object(parameters), site)
}

// evaluated is what an expression comes to as the output of a deployment.
func evaluated(expression, kind string) (any, error) {
	quoted, err := json.Marshal(expression)
	if err != nil {
		return nil, err
	}
	plan, err := bind(`"parameters": {
			"word": {"type": "string"}, "Number": {"type": "int", "defaultValue": 7},
			"list": {"type": "array", "defaultValue": [1, "two", {"three": 3}]},
			"when": {"type": "string", "defaultValue": "[utcNow()]"},
			"day": {"type": "string", "defaultValue": "[utcNow('yyyy-MM-dd HH:mm')]"}
		},
		"variables": {
			"object": {"a": {"b": ["x", "y"]}, "Case": 1, "none": null},
			"twice": "[concat(variables('once'), variables('once'))]", "once": "[parameters('word')]",
			"chicken": "[variables('egg')]", "egg": "[variables('chicken')]",
			"copy": [{"name": "squares", "count": 3, "input": "[mul(copyIndex('squares'), copyIndex('squares'))]"}]
		},
		"resources": [],
		"outputs": {"it": {"type": "`+kind+`", "value": `+string(quoted)+`}}`, `{"word": {"value": "wör'd"}}`)
	if err != nil {
		return nil, err
	}
	outputs, err := plan.Outputs(things{
		"/subscriptions/s/resourcegroups/g/providers/n/t/there": `{"id": "I", "location": "here", "properties": {"state": "fine"}}`,
	})
	return outputs["it"].Value, err
}

func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		// Texts that are none.
		`plain`: `"plain"`, `[[escaped]`: `"[escaped]"`, `[open`: `"[open"`, `[[open`: `"[[open"`,
		// Syntax.
		`['it''s']`: `"it's"`, `[ concat ( 'a' , 'b' ) ]`: `"ab"`, `[CONCAT('a', 'b')]`: `"ab"`, `[-5]`: `-5`,
		`[variables('object').a.b[1]]`: `"y"`, `[variables('object')['a']['b'][sub(2, 2)]]`: `"x"`, `[variables('OBJECT').A.B[0]]`: `"x"`,
		`[variables('object').?missing]`: `null`, `[variables('object')[?'missing'].?deeper]`: `null`,
		// The deployment and what is around it.
		`[parameters('number')]`: `7`, `[parameters('list')[2].three]`: `3`, `[variables('twice')]`: `"wör'dwör'd"`, `[variables('squares')]`: `[0, 1, 4]`,
		`[parameters('when')]`: `"20260304T150607Z"`, `[parameters('day')]`: `"2026-03-04 15:06"`,
		`[resourceGroup().location]`: `"westeurope"`, `[resourceGroup().id]`: `"/subscriptions/S/resourceGroups/G"`, `[subscription().tenantId]`: `"T"`,
		`[tenant().tenantId]`: `"T"`, `[deployment().name]`: `"D"`, `[environment().name]`: `"AzureCloud"`,
		`[resourceId('N/t', 'n')]`:                                               `"/subscriptions/S/resourceGroups/G/providers/N/t/n"`,
		`[resourceId('N/t/u', 'n', 'm')]`:                                        `"/subscriptions/S/resourceGroups/G/providers/N/t/n/u/m"`,
		`[resourceId('other', 'N/t', 'n')]`:                                      `"/subscriptions/S/resourceGroups/other/providers/N/t/n"`,
		`[resourceId('S2', 'other', 'N/t', 'n')]`:                                `"/subscriptions/S2/resourceGroups/other/providers/N/t/n"`,
		`[subscriptionResourceId('N/t', 'n')]`:                                   `"/subscriptions/S/providers/N/t/n"`,
		`[extensionResourceId(resourceId('N/t', 'n'), 'E/x', 'y')]`:              `"/subscriptions/S/resourceGroups/G/providers/N/t/n/providers/E/x/y"`,
		`[subscriptionResourceId('Microsoft.Resources/resourceGroups', 'g')]`:    `"/subscriptions/S/resourceGroups/g"`,
		`[reference(resourceId('N/t', 'There')).state]`:                          `"fine"`,
		`[reference(resourceId('N/t', 'there'), '2024-01-01', 'Full').location]`: `"here"`,
		`[if(true(), 'then', reference(resourceId('N/t', 'missing')).state)]`:    `"then"`,
		// Logic.
		`[equals('a', 'A')]`: `false`, `[equals(1, 1)]`: `true`, `[equals(createArray(1), createArray(1))]`: `true`, `[not(false())]`: `true`,
		`[and(true(), false(), parameters('missing'))]`: `false`, // nobody looks at the last
		`[or(false(), true())]`:                         `true`, `[less(1, 2)]`: `true`, `[greaterOrEquals('b', 'a')]`: `true`, `[coalesce(null(), variables('object').none, 'x')]`: `"x"`,
		`[bool('True')]`: `true`, `[bool(0)]`: `false`,
		// Strings.
		`[toUpper('ab')]`: `"AB"`, `[trim(' a ')]`: `"a"`, `[replace('aXbX', 'X', '-')]`: `"a-b-"`, `[split('a,b;c', createArray(',', ';'))]`: `["a", "b", "c"]`,
		`[join(createArray('a', 1), '/')]`: `"a/1"`, `[length('wörd')]`: `4`, `[contains('abc', 'b')]`: `true`, `[startsWith('Abc', 'aB')]`: `true`,
		`[indexOf('aBc', 'b')]`: `1`, `[indexOf('abc', 'x')]`: `-1`, `[substring('abcdef', 2, 3)]`: `"cde"`, `[padLeft(5, 3, '0')]`: `"005"`,
		`[base64('ab')]`: `"YWI="`, `[base64ToString('YWI=')]`: `"ab"`, `[format('{0}-{1}-{{{0}}}', 'a', 1)]`: `"a-1-{a}"`,
		`[string(true())]`: `"True"`, `[string(createObject('a', 1))]`: `"{\"a\":1}"`, `[json('{"a": [1]}').a[0]]`: `1`, `[concat('a', 1, true())]`: `"a1True"`,
		// Collections.
		`[concat(createArray(1), createArray(2))]`: `[1, 2]`, `[empty('')]`: `true`, `[empty(null())]`: `true`, `[empty(createObject('a', 1))]`: `false`,
		`[contains(createObject('Key', 1), 'key')]`: `true`, `[contains(createArray(1, 2), 2)]`: `true`, `[first('abc')]`: `"a"`, `[last(createArray(1, 2))]`: `2`,
		`[skip(createArray(1, 2, 3), 1)]`: `[2, 3]`, `[take('abc', 5)]`: `"abc"`, `[union(createArray(1, 2), createArray(2, 3))]`: `[1, 2, 3]`,
		`[union(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2)))]`: `{"a": {"x": 1, "y": 2}}`,
		`[intersection(createArray(1, 2), createArray(2, 3))]`:                                      `[2]`, `[intersection(createObject('a', 1, 'b', 2), createObject('a', 1, 'b', 3))]`: `{"a": 1}`,
		`[range(3, 2)]`: `[3, 4]`, `[array('a')]`: `["a"]`, `[items(createObject('b', 1, 'a', 2))[0].key]`: `"a"`,
		// Numbers.
		`[add(2, 3)]`: `5`, `[div(7, 2)]`: `3`, `[mod(7, 2)]`: `1`, `[min(3, 1, 2)]`: `1`, `[max(createArray(3, 1))]`: `3`, `[int('42')]`: `42`,
		`[mul(sub(5, 2), 2)]`: `6`,
	} {
		t.Run(expression, func(t *testing.T) {
			wanted := object(`{"it": ` + want + `}`)["it"]
			kind := map[byte]string{'"': "string", '[': "array", '{': "object", 't': "bool", 'f': "bool"}[want[0]]
			if kind == "" {
				kind = "int"
			}
			if wanted == nil { // no output is null
				expression, kind, wanted = "[string(empty("+expression[1:len(expression)-1]+"))]", "string", "True"
			}
			got, err := evaluated(expression, kind)
			if err != nil {
				t.Fatal(err)
			}
			if difference := cmp.Diff(wanted, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestUniqueStringsDependOnWhatTheyAreGivenAlone(t *testing.T) {
	one, err := evaluated("[concat(uniqueString('a', 'b'), ' ', guid('a'))]", "string")
	if err != nil {
		t.Fatal(err)
	}
	again, err := evaluated("[concat(uniqueString('a', 'b'), ' ', guid('a'))]", "string")
	if err != nil || one != again {
		t.Fatalf("%v, then %v, %v", one, again, err)
	}
	other, err := evaluated("[concat(uniqueString('ab', ''), ' ', guid('b'))]", "string")
	if text, _ := one.(string); err != nil || other == one || len(text) != 13+1+36 {
		t.Fatalf("%v and %v, %v", one, other, err)
	}
}

func TestBadExpressionsAreRefusedWithTheirPlace(t *testing.T) {
	for expression, want := range map[string]string{
		`[nonsense('a')]`:                 `the template function 'nonsense' is not valid at position '1'`,
		`[concat('a', nonsense())]`:       `'nonsense' is not valid at position '13'`,
		`[concat('a']`:                    `expected ',', found the end`,
		`[concat('a)]`:                    `a string has no end`,
		`[concat('a') 'b']`:               `unexpected '''`,
		`[parameters]`:                    `expected '(', found the end`,
		`[]`:                              `found the end`,
		`[99999999999999999999]`:          `is not an integer`,
		`[concat('a').]`:                  `expected a name`,
		`[not()]`:                         `'not' does not take 0 arguments`,
		`[variables('chicken')]`:          `refers to itself`,
		`[parameters('missing')]`:         `the template parameter 'missing' is not found`,
		`[variables('object').missing]`:   `property 'missing' doesn't exist, available properties are 'Case, a, none'`,
		`[parameters('list')[3]]`:         `property '3' doesn't exist`,
		`[add(1, 'a')]`:                   `parameter 2 must be an integer, it is of type 'String'`,
		`[div(1, 0)]`:                     `division by zero`,
		`[if('yes', 1, 2)]`:               `takes booleans`,
		`[substring('abc', 2, 2)]`:        `must be inside of the string`,
		`[format('{1}', 'a')]`:            `not one of its 1 values`,
		`[json('{')]`:                     `is not JSON`,
		`[resourceId('N/t', 'a', 'b')]`:   `requires 1 resource name argument(s)`,
		`[utcNow()]`:                      `default values of parameters only`,
		`[copyIndex()]`:                   `no such copy around it`,
		`[reference('nobody')]`:           `is not defined in the template`,
		`[range(0, 10001)]`:               `from 0 to 10000`,
		"[" + strings.Repeat("not(", 300): `nested deeper`,
	} {
		t.Run(expression[:min(len(expression), 40)], func(t *testing.T) {
			if strings.HasPrefix(expression, "[not(not(") {
				expression += "true()" + strings.Repeat(")", 300) + "]"
			}
			_, err := evaluated(expression, "string")
			var refused *template.Error
			if !errors.As(err, &refused) || refused.Code != "InvalidTemplate" || !strings.Contains(refused.Message, want) ||
				!strings.Contains(refused.Message, "at line '") {
				t.Fatalf("got %v, want InvalidTemplate, at line, %s", err, want)
			}
		})
	}
}

func TestAReferenceToWhatIsNotThereIsMissing(t *testing.T) {
	_, err := evaluated("[reference(resourceId('N/t', 'missing')).state]", "string")
	var missing *template.MissingError
	if !errors.As(err, &missing) || missing.ID != "/subscriptions/S/resourceGroups/G/providers/N/t/missing" {
		t.Fatal(err)
	}
}

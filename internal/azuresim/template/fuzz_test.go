package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"salve/internal/azuresim/template"
)

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// FuzzTemplate: whatever the text, it is refused in ARM's terms or has a plan whose bodies and
// outputs can be asked for.
func FuzzTemplate(f *testing.F) {
	for _, body := range []string{
		`"resources": []`, fmt.Sprintf(nested, "inner"), fmt.Sprintf(nested, "outer"),
		`"parameters": {"p": {"type": "string", "defaultValue": "[concat('a', uniqueString(resourceGroup().id))]"}}, "variables": {"v": "[split(parameters('p'), 'a')]"},
		 "resources": [{"type": "N/t", "name": "[variables('v')[1]]", "apiVersion": "1",
			"copy": {"name": "c", "count": 1}, "condition": "[equals(1, 1)]", "dependsOn": [],
			"properties": {"x": "[reference('c').y]"}}], "outputs": {"o": {"type": "int", "value": "[add(1, max(range(0, 3)))]"}}`,
		`"languageVersion": "2.0", "resources": {"s": {"type": "N/t/u", "name": "[format('{0}/{1}', 'a', padLeft('b', 3))]", "apiVersion": "1", "existing": true}},
		 "outputs": {"o": {"type": "array", "copy": {"count": 2, "input": "[substring('abc', copyIndex('o'))]"}}, "s": {"type": "object", "value": "[union(json('{}'), reference('s'))]"}}`,
	} {
		f.Add("{" + head + "," + body + "}")
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := template.Parse([]byte(text))
		var plan *template.Plan
		if err == nil {
			plan, err = parsed.Bind(nil, site)
		}
		check(t, err)
		if plan == nil {
			return
		}
		for _, resource := range plan.Resources {
			_, err := plan.Body(resource, things{}, true)
			check(t, err)
		}
		_, err = plan.Outputs(things{})
		check(t, err)
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	var refused *template.Error
	var missing *template.MissingError
	if err != nil && !errors.As(err, &refused) && !errors.As(err, &missing) {
		t.Errorf("%T is neither a refusal nor something missing: %v", err, err)
	}
}

package removeoperator_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/journal/configmap"
	"salve/runbooks/removeoperator"
)

func TestInvalidInputsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*removeoperator.Inputs)
		says string
	}{
		"no group is not every group": {func(in *removeoperator.Inputs) { in.Group = "" },
			"--group: the API group is missing"},
		"a top-level domain is no group":      {func(in *removeoperator.Inputs) { in.Group = "run" }, "--group"},
		"Kubernetes' own groups are no group": {func(in *removeoperator.Inputs) { in.Group = "k8s.io" }, "--group"},
		"a group is a domain":                 {func(in *removeoperator.Inputs) { in.Group = "*.example.io" }, "--group"},
		"no namespace is not every namespace": {func(in *removeoperator.Inputs) { in.Namespace = "" },
			"--namespace: the operator's namespace is missing"},
		"kube-system is nobody's own": {func(in *removeoperator.Inputs) { in.Namespace = "kube-system" }, "--namespace"},
		"nor is default":              {func(in *removeoperator.Inputs) { in.Namespace = "default" }, "--namespace"},
		"nor is where runs are recorded": {func(in *removeoperator.Inputs) { in.Namespace = configmap.Namespaces("")[0] },
			"Salve keeps the journals of all runs in it"},
		"nor where their exports are": {func(in *removeoperator.Inputs) { in.Namespace = configmap.Namespaces("")[1] },
			"Salve keeps the journals of all runs in it"},
		"a namespace is a label":       {func(in *removeoperator.Inputs) { in.Namespace = "a/b" }, "--namespace"},
		"a selector selects something": {func(in *removeoperator.Inputs) { in.Selectors = []string{""} }, "--selector"},
		"what others don't have selects others": {func(in *removeoperator.Inputs) {
			in.Selectors = []string{"app=operator", "!app"}
		}, "--selector"},
		"nor does what they have otherwise": {func(in *removeoperator.Inputs) {
			in.Selectors = []string{"app!=web,tier notin (a)"}
		}, "--selector"},
		"a selector can be read": {func(in *removeoperator.Inputs) { in.Selectors = []string{"app in"} }, "--selector"},
		"a finalizer is a name":  {func(in *removeoperator.Inputs) { in.Finalizers = []string{"*"} }, "--finalizer"},
		"a wait is not negative": {func(in *removeoperator.Inputs) { in.CascadeWait.Duration = -1 }, "--cascade-wait"},
		"a budget is longer than the wait in it": {func(in *removeoperator.Inputs) { in.Budget = in.CascadeWait },
			"--budget"},
	} {
		t.Run(name, func(t *testing.T) {
			in := removeoperator.Defaults()
			in.Group, in.Namespace = "package-operator.run", "package-operator-system"
			if err := in.Validate(); err != nil {
				t.Fatalf("before the edit: %v", err)
			}
			test.edit(&in)
			if err := in.Validate(); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want something about %q", err, test.says)
			}
		})
	}
}

func TestInputsAreTheSameWhenTheyComeFromAJournal(t *testing.T) {
	in := removeoperator.Defaults()
	in.Group, in.Namespace, in.Selectors, in.AllowCascade = "example.io", "operator",
		[]string{"app=operator"}, "asked for in INC-7"
	in.CascadeWait.Duration = 90 * time.Second
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var back removeoperator.Inputs
	if err := json.Unmarshal(raw, &back); err != nil || !cmp.Equal(in, back) {
		t.Errorf("%v: %s", err, cmp.Diff(in, back))
	}
	if want := `"cascadeWait":"1m30s"`; !strings.Contains(string(raw), want) {
		t.Errorf("%s does not hold %s", raw, want)
	}
}

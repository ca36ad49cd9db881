package repairprotection_test

import (
	"strings"
	"testing"

	"salve/runbooks/repairprotection"
)

func TestInputsValidate(t *testing.T) {
	for rule, row := range map[string]struct {
		change func(*repairprotection.Inputs)
		says   string // empty: valid
	}{
		"a configuration is enough":  {func(*repairprotection.Inputs) {}, ""},
		"without one":                {func(in *repairprotection.Inputs) { in.Config = "" }, "--config"},
		"a revision of no kind":      {func(in *repairprotection.Inputs) { in.Revision = "main" }, "--revision"},
		"a repository of no owner":   {func(in *repairprotection.Inputs) { in.Repos = []string{"widgets"} }, "--repo"},
		"a sample of less than none": {func(in *repairprotection.Inputs) { in.Sample = -1 }, "--sample"},
		"no namespace":               {func(in *repairprotection.Inputs) { in.RecordNamespace = "" }, "--record-namespace"},
		"no time":                    {func(in *repairprotection.Inputs) { in.Budget.Duration = 0 }, "--budget"},
		"an external context, unnamed": {func(in *repairprotection.Inputs) { in.External = []string{""} },
			"--external-context"},
		"a branch without a repository": {func(in *repairprotection.Inputs) {
			in.AllowUnprotect = map[string]string{"main": "x"}
		}, "--allow-unprotect"},
		"a reason that is none": {func(in *repairprotection.Inputs) {
			in.AllowUnprotect = map[string]string{"kube/widgets=main": " "}
		}, "a reason is required"},
		"more branches than a plan holds": {func(in *repairprotection.Inputs) {
			in.Branches = make([]repairprotection.Planned, 1501)
		}, "1501 branches"},
	} {
		in := repairprotection.Defaults()
		in.Config = "config.yaml"
		row.change(&in)
		err := in.Validate()
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want something about %q", rule, err, row.says)
		}
	}
}

// TestRecordIsMemoryNeverAuthority: a run is made again from its record, and the record widens nothing.
func TestRecordIsMemoryNeverAuthority(t *testing.T) {
	w := newWorld(t)
	world, in := w.of(nil), w.discovered()
	for rule, row := range map[string]struct {
		forge func(*repairprotection.Inputs)
		says  string // empty: it is the run's
	}{
		"as it was": {func(*repairprotection.Inputs) {}, ""},
		"another configuration": {func(in *repairprotection.Inputs) { in.Digest = "0123456789abcdef" },
			"configuration changed"},
		"another GitHub": {func(in *repairprotection.Inputs) { in.GitHub = "https://evil.example/" },
			"not https://github.example"},
		"a branch that it leaves": {branch("kube/attic=main"), "leaves it alone"},
		"a branch twice":          {branch("kube/widgets=main"), "twice"},
		"a branch that is none":   {branch("../widgets"), "invalid branch"},
		"a branch out of scope": {func(in *repairprotection.Inputs) { in.Repos = []string{"kube/gadgets"} },
			"not of a --repo"},
		"its own namespace as another Prow's": {func(in *repairprotection.Inputs) { in.Others = []string{"prow"} },
			"this Prow has its ProwJobs there"},
		"a namespace that is none": {func(in *repairprotection.Inputs) { in.Others = []string{"a/b"} },
			"not the name of a namespace"},
		"a reason for what is not": {allowed("kube/widgets=main"), "does not unprotect"},
	} {
		forged := in
		forged.Branches = append([]repairprotection.Planned{}, in.Branches...)
		row.forge(&forged)
		_, err := repairprotection.New(world, forged)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want something about %q", rule, err, row.says)
		}
	}
}

func branch(name string) func(*repairprotection.Inputs) {
	return func(in *repairprotection.Inputs) {
		in.Branches = append(in.Branches, repairprotection.Planned{Branch: name})
	}
}

func allowed(name string) func(*repairprotection.Inputs) {
	return func(in *repairprotection.Inputs) { in.AllowUnprotect = map[string]string{name: "because"} }
}

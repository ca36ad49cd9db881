package rescuepods_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/instance"
)

// TestInputsOfAProw.
func TestInputsOfAProw(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.world.Prow = &instance.Configuration{
		File: "/config.yaml", Namespaces: instance.Namespaces{ProwJobs: "prow", Pods: "pods"},
	}
	for says, edit := range map[string]func(){
		"required flag --prow-config not set": func() { s.inputs.Prow.Config, s.inputs.Prow.PlankVersion = "", "v1" },
		"--proven-jobs 0":                     func() { s.inputs.Prow.Proven = 0 },
		"--max-share 101":                     func() { s.inputs.Prow.MaxShare = 101 },
		`--prow-namespace "A B"`:              func() { s.inputs.Prow.Namespace = "A B" },
		`--plank-version "a b"`:               func() { s.inputs.Prow.PlankVersion = "a b" },
		"--prow-config-map: ":                 func() { s.inputs.Prow.ConfigMap = "prow/config" },
		"names no key of a ConfigMap":         func() { s.inputs.Prow.ConfigMap = "prow/CONFIG/config.yaml" },
		"--incident-since":                    func() { s.inputs.Prow.Since = "yesterday" },
		"is before --incident-since": func() {
			s.inputs.Prow.Since, s.inputs.Prow.Until = "2019-02-05T10:00:00Z", "2019-02-05T09:00:00Z"
		},
		"conflict: --prowjob-namespace is default":    func() { s.inputs.ProwJobs = "default" },
		"conflict: --expected-namespace is test-pods": func() { s.inputs.Expected = []string{"test-pods"} },
	} {
		s.inputs = rescuepods.Defaults()
		s.inputs.Prow.Config = "config.yaml"
		edit()
		if _, err := rescuepods.New(s.world, s.inputs); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	s.inputs = rescuepods.Defaults()
	s.inputs.Prow.Config = "config.yaml"
	made := s.book().Inputs.(rescuepods.Inputs)
	if made.Selector != "created-by-prow=true" || !slices.Equal(made.Expected, []string{"pods"}) ||
		made.ProwJobs != "prow" || made.Prow.Namespace != "prow" || made.Prow.Config != "/config.yaml" {
		t.Errorf("%+v", made)
	}
	s.inputs.Expected = []string{"tekton", "pods"}
	if _, err := rescuepods.New(s.world, s.inputs); err != nil {
		t.Errorf("a further namespace: %v", err)
	}
}

// TestOtherSoftwareKnowsNothingOfProw: neither its inputs nor its guards do.
func TestOtherSoftwareKnowsNothingOfProw(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	book := s.book()
	if raw, err := json.Marshal(book.Inputs); err != nil || strings.Contains(string(raw), `"prow"`) {
		t.Errorf("%s, %v", raw, err)
	}
	if len(book.Guards) != 6 {
		t.Errorf("%d guards", len(book.Guards))
	}
}

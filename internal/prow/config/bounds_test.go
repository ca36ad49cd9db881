package config_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
)

// TestWhatIsSaidOfAFileIsBounded, and what is left out counts all the same.
func TestWhatIsSaidOfAFileIsBounded(t *testing.T) {
	many := strings.Repeat("a: b\n", 2000)
	for name, test := range map[string]struct {
		file    string
		refused bool
		more    string
	}{
		"warnings alone":                {many, false, "1899 more findings"},
		"a mistake behind the warnings": {many + "presubmits: 1\n", true, "1900 more findings"},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := files{"config.yaml": "", "jobs/many.yaml": test.file}.load()
			if loaded.Refused() != test.refused || loaded.Incomplete() != test.refused {
				t.Errorf("refused %t, incomplete %t; want %t", loaded.Refused(), loaded.Incomplete(), test.refused)
			}
			if len(loaded.Diagnostics) != 101 {
				t.Errorf("%d diagnostics, not 101", len(loaded.Diagnostics))
			}
			worst := diagnostic.Warning
			if test.refused {
				worst = diagnostic.Error
			}
			found := false
			for _, d := range loaded.Diagnostics {
				found = found || strings.HasPrefix(d.Message, test.more) && d.Severity == worst
			}
			if !found {
				t.Errorf("no %s %q: %v", worst, test.more, loaded.Diagnostics[90:])
			}
		})
	}
}

func TestUnknownFieldsOfAFileAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "unknown-%d: 1\n", i)
	}
	loaded := files{"config.yaml": "", "jobs/many.yaml": text.String()}.load()
	if unknown := loaded.Partial().UnknownFields; len(unknown) != 100 {
		t.Errorf("%d unknown fields, not 100", len(unknown))
	}
}

// TestJobsAreNotHeldAgainstAConfigurationThatCannotBeRead: each would lack what config.yaml gives to all.
func TestJobsAreNotHeldAgainstAConfigurationThatCannotBeRead(t *testing.T) {
	decorated := job("unit", "decorate: true")
	for name, test := range map[string]struct {
		config string
		want   string
	}{
		"it can be read":         {"", "no utility_images"},
		"one space too many":     {"prowjob_namespace: prow\n pod_namespace: pods\n", ""},
		"a value that is no map": {"plank: 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := files{"config.yaml": test.config, "jobs/unit.yaml": decorated}.load()
			var ofJobs []string
			for _, d := range loaded.Diagnostics {
				if d.Rule == config.RuleRefused {
					ofJobs = append(ofJobs, d.Message)
				}
			}
			if said := strings.Join(ofJobs, "; "); test.want == "" && said != "" || !strings.Contains(said, test.want) {
				t.Errorf("refused: %q; want %q", said, test.want)
			}
			if test.want == "" && !loaded.Incomplete() {
				t.Error("the configuration counts as whole")
			}
		})
	}
}

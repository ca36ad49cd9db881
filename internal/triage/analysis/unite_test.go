package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
)

// failing is events of scenarios that fail with these texts, and of 20 that pass.
func failing(texts ...string) string {
	var out strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&out, `{"Package":"e2e","Test":"TestA%d","Action":"output","Output":"    a_test.go:7: %s\n"}`+"\n", i, text)
		fmt.Fprintf(&out, `{"Package":"e2e","Test":"TestA%d","Action":"fail"}`+"\n", i)
	}
	for i := range 20 {
		fmt.Fprintf(&out, `{"Package":"e2e","Test":"TestB%d","Action":"pass"}`+"\n", i)
	}
	out.WriteString(`{"Package":"e2e","Action":"fail"}` + "\n")
	return out.String()
}

func TestGroupsOfOneSignatureAreOne(t *testing.T) {
	const known = `
kinds: [{kind: serial, files: [serial.log], producer: machine}]
signatures: [{id: not-running, class: test, all: "to be running: gave up"}, {id: noisy, class: product, all: "noise"}]
`
	for rule, row := range map[string]struct {
		texts  []string
		logs   map[string]string
		groups []int // failures of each
	}{
		"texts that a name tells apart": {[]string{"waiting for pod web-a to be running: gave up",
			"waiting for pod probe-b to be running: gave up", "waiting for pod probe-b to be running: gave up"}, nil, []int{3}},
		"beside another failure": {[]string{"waiting for pod web-a to be running: gave up",
			"waiting for pod probe-b to be running: gave up", "disk is still attached to machine"}, nil, []int{2, 1}},
		"a signature in a log of somebody else's unites nothing": {
			[]string{"volume was never mounted", "certificate has expired"},
			map[string]string{"TestA0/serial.log": "noise\n", "TestA1/serial.log": "noise\n"}, []int{1, 1}},
	} {
		t.Run(rule, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "run.json"), failing(row.texts...))
			for name, text := range row.logs {
				writeBelow(t, filepath.Join(folder, name), text)
			}
			c, err := catalogue.Parse("catalogue.yaml", []byte(known))
			if err != nil {
				t.Fatal(err)
			}
			result, err := analyzed(t, analysis.Request{
				Paths: []string{folder}, Catalogue: c, Now: time.Unix(1e9, 0), Thresholds: triage.Default(),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, g := range result.Document.Groups {
				got = append(got, g.Failures)
			}
			if fmt.Sprint(got) != fmt.Sprint(row.groups) {
				t.Errorf("groups of %v failures, want %v", got, row.groups)
			}
			for i := range result.Run.Groups {
				for _, at := range result.Run.Groups[i].Rows {
					if result.Run.Scenarios[at].Group != i {
						t.Errorf("scenario %d is in group %d, not %d", at, result.Run.Scenarios[at].Group, i)
					}
				}
			}
		})
	}
}

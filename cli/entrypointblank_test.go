package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestARunWhoseProcessDiedAsItMadeItsRecordIsBegunAgain: the name stands in the record of the whole, and what is kept
// under it is empty.
func TestARunWhoseProcessDiedAsItMadeItsRecordIsBegunAgain(t *testing.T) {
	t.Parallel()
	folder, names := t.TempDir(), 0
	in := func(name string) string { return filepath.Join(folder, name) }
	err := errors.Join(
		os.WriteFile(in("topology.yaml"), []byte("services:\n- {serviceGroup: Example.Region, purpose: All., "+
			"pipelinePath: region.yaml}\nentrypoints:\n- identifier: Example.Region\n"), 0o600),
		os.WriteFile(in("region.yaml"), []byte("serviceGroup: Example.Region\nrolloutName: Region\nresourceGroups:\n"+
			"- name: region\n  resourceGroup: region\n  subscription: sub\n  steps:\n"+
			"  - {name: probe, action: Shell, shellIdentity: {value: me}, command: 'true'}\n"), 0o600),
		os.MkdirAll(in("journal/runs/run-2"), 0o700), // as the process left it
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func() (int, string) {
		var log bytes.Buffer
		code := execute(&app{
			stdout: &log, stderr: &log, environment: os.Environ(), connect: connect, program: Options{Runbooks: BuiltIn()},
			lookup: func(name string) string {
				return map[string]string{"XDG_STATE_HOME": in("state"), keyFileVariable: in("key")}[name]
			},
			newRun: func(time.Time) string { names++; return fmt.Sprintf("run-%d", names) },
			arguments: []string{"pipeline", "run", "--topology", in("topology.yaml"), "--entrypoint", "Example.Region",
				"--region", "uksouth", "--journal", in("journal")},
		})
		return code, log.String()
	}
	if code, said := run(); code != exitFailed || !strings.Contains(said, "exists") {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	if code, said := run(); code != exitDecided || !strings.Contains(said, "its only step is done") {
		t.Errorf("exit %d:\n%s", code, said)
	}
}

package build_test

import (
	"path/filepath"
	"strings"
	"testing"

	"salve/pipeline"
	"salve/pipeline/build"
	"salve/pipeline/program"
)

// shellSteps is a pipeline of Shell steps with these commands.
func shellSteps(t *testing.T, folder string, commands ...string) *pipeline.File {
	t.Helper()
	text := "$schema: pipeline.schema.v1\nserviceGroup: Example.Run\nrolloutName: Run\nresourceGroups:\n- name: g\n  resourceGroup: r\n  subscription: s\n  steps:\n"
	for i, command := range commands {
		text += "  - name: step" + string(rune('a'+i)) + "\n    action: Shell\n    shellIdentity: {value: none}\n    workingDir: work\n    command: |\n"
		for line := range strings.Lines(command) {
			text += "      " + strings.TrimSuffix(line, "\n") + "\n"
		}
	}
	file, found := pipeline.Parse(filepath.Join(folder, "pipeline.yaml"), []byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	return file
}

// TestWhatIsExecuted: paths begin in the step's folder, names are the machine's,
// and a program is named once with all steps that execute it.
func TestWhatIsExecuted(t *testing.T) {
	file := shellSteps(t, "/p", "./run.sh --now | jq .", "../bin/helper; /opt/tool", "./run.sh", "this is (no shell")
	var got []string
	for _, executed := range build.ExecutedBy(file) {
		got = append(got, executed.Path+" by "+strings.Join(executed.Steps, "+"))
	}
	want := "/p/work/run.sh by g/stepa+g/stepc, jq by g/stepa, /p/bin/helper by g/stepb, /opt/tool by g/stepb"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestFit: all programs that can't be executed are said at once, with the steps
// that execute them.
func TestFit(t *testing.T) {
	s := newSite(t, copying)
	s.write("work/good.sh", "#!/bin/sh\n")
	s.write("work/bad.sh", "no first line\n")
	file := shellSteps(t, s.folder, "./good.sh; true", "./bad.sh", "./bad.sh; ./missing", "no-such-command-anywhere")
	examined, err := build.Fit(file, program.Here(), "salve pipeline build pipeline.yaml")
	if err == nil || examined < 3 {
		t.Fatalf("%d examined, %v", examined, err)
	}
	for _, want := range []string{
		"steps g/stepb, g/stepc: " + filepath.Join(s.folder, "work/bad.sh") + " is text without a #! line",
		"step g/stepc: " + filepath.Join(s.folder, "work/missing") + " is not there; to mend it: salve pipeline build pipeline.yaml",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "good.sh") || strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("too much is said:\n%v", err)
	}
}

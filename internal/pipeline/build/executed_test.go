package build_test

import (
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/build"
	"salve/internal/pipeline/program"
)

// shellSteps is a pipeline of Shell steps with these commands.
func shellSteps(t *testing.T, folder string, commands ...string) *pipeline.File {
	t.Helper()
	text := "$schema: pipeline.schema.v1\nserviceGroup: Example.Run\nrolloutName: Run\nresourceGroups:\n- name: g\n  " +
		"resourceGroup: r\n  subscription: s\n  steps:\n"
	for i, command := range commands {
		text += "  - name: step" + string(rune('a'+i)) +
			"\n    action: Shell\n    shellIdentity: {value: none}\n    workingDir: work\n    command: |\n"
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
	file := shellSteps(t, "/p", "./run.sh --now | jq .", "../bin/helper; /opt/tool", "cd ..; work/run.sh; $TOOL",
		"this is (no shell")
	var got []string
	all, untold := build.ExecutedBy(file)
	if strings.Join(untold, ", ") != "step g/stepc: $TOOL" {
		t.Errorf("untold are %q", untold)
	}
	for _, executed := range all {
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
	found, err := build.Fit(file, program.Here(), "salve pipeline build pipeline.yaml")
	if err == nil || found.Examined != 3 || len(found.Untold) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, want := range []string{
		"steps g/stepb, g/stepc: " + filepath.Join(s.folder, "work/bad.sh") + " is text without a #! line",
		"step g/stepc: " + filepath.Join(s.folder, "work/missing") +
			" is not there. hint: salve pipeline build pipeline.yaml",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "good.sh") || strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("too much is said:\n%v", err)
	}
}

// TestFitElsewhere: what lies in a folder to which a step goes first is examined as
// well, and what is not there yet may be made on the way.
func TestFitElsewhere(t *testing.T) {
	s := newSite(t, copying)
	s.write("work/sub/bad.sh", "no first line\n")
	file := shellSteps(t, s.folder, "git clone there && cd there && ./build.sh", "cd sub && ./bad.sh", "bash -c '$TOOL'")
	found, err := build.Fit(file, program.Here(), "")
	if err == nil || !strings.Contains(err.Error(), "step g/stepb: "+filepath.Join(s.folder, "work/sub/bad.sh")+
		" is text without a #! line") {
		t.Errorf("got %v", err)
	}
	if want := "step g/stepc: $TOOL, step g/stepa: " +
		filepath.Join(s.folder, "work/there/build.sh"); strings.Join(found.Untold, ", ") != want {
		t.Errorf("untold are %q, want %q", found.Untold, want)
	}
}

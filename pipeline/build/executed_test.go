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

func TestWhatIsExecuted(t *testing.T) {
	for command, want := range map[string]string{
		"./run.sh --now":                              "/p/work/run.sh",
		"../bin/helper":                               "/p/bin/helper",
		"/opt/tool x":                                 "/opt/tool",
		"kubectl get nodes":                           "kubectl",
		"A=1 B=2 ./run.sh":                            "/p/work/run.sh",
		"env A=1 ./run.sh":                            "/p/work/run.sh",
		"timeout -k 5s 30s ./run.sh":                  "/p/work/run.sh",
		"exec nice -n 5 ./run.sh":                     "/p/work/run.sh",
		`"./run.sh" && ./other.sh || ./third.sh`:      "/p/work/run.sh /p/work/other.sh /p/work/third.sh",
		"for i in 1 2; do ./run.sh $i; done":          "/p/work/run.sh",
		"out=$(./run.sh)":                             "/p/work/run.sh",
		"f() { ./run.sh; }; f":                        "/p/work/run.sh",
		"$TOOL x":                                     "",
		"{{ .tool }} x":                               "",
		"./run.sh | jq .":                             "/p/work/run.sh jq",
		"cat <<E | ./run.sh\n./not-this.sh\nE":        "cat /p/work/run.sh",
		"this is (no shell":                           "",
		"if ./test.sh; then ./run.sh; fi # ./comment": "/p/work/test.sh /p/work/run.sh",
	} {
		var got []string
		for _, executed := range build.ExecutedBy(shellSteps(t, "/p", command)) {
			got = append(got, executed.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s executes %q, want %q", command, got, want)
		}
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

package shell_test

import (
	"strings"
	"testing"

	"salve/pipeline/shell"
)

func TestCommands(t *testing.T) {
	for script, want := range map[string]string{
		"./run.sh --now":                                "./run.sh",
		"A=1 B=2 ./run.sh":                              "./run.sh",
		"env A=1 ./run.sh":                              "./run.sh",
		"timeout -k 5s 30s ./run.sh":                    "./run.sh",
		"exec nice -n 5 ./run.sh":                       "./run.sh",
		`"./run.sh" && './other.sh' || ./third\.sh`:     "./run.sh ./other.sh ./third.sh",
		"for i in 1 2; do ./run.sh $i; done":            "./run.sh",
		"out=$(./run.sh | jq .)":                        "./run.sh jq",
		"if ./test.sh; then ./run.sh; fi # ./comment":   "./test.sh ./run.sh",
		"set -e; export A=1; echo hello; [ -f x ]":      "",
		"f() { ./run.sh; }; f":                          "./run.sh",
		"command -v jq >/dev/null && jq . x":            "",
		"if which helm; then helm list; fi":             "",
		"command jq .":                                  "jq",
		"$TOOL x; {{ .tool }} x":                        "",
		"cd tools && ./run.sh && /opt/x && kubectl get": "/opt/x kubectl",
		"./before.sh; (cd tools; ./run.sh)":             "./before.sh",
		"cat <<E | ./run.sh\n./not-this.sh\nE":          "cat ./run.sh",
	} {
		got, err := shell.Commands(script)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s executes %q, want %q", script, got, want)
		}
	}
}

func TestWhatIsNoShell(t *testing.T) {
	if _, err := shell.Commands("echo hello\nif true; then"); err == nil || !strings.HasPrefix(err.Error(), "in its line 2, column 10: ") {
		t.Errorf("got %v, want the line", err)
	}
}

func TestWords(t *testing.T) {
	got, err := shell.Words(`t="$(mktemp ./x.XXX)"; go build -o "$t" ./x && mv "$t" ./bin/x`)
	if err != nil || strings.Join(got, " ") != "mktemp ./x.XXX go build -o ./x mv ./bin/x" {
		t.Errorf("%q, %v", got, err)
	}
}

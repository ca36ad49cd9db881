package shell_test

import (
	"strings"
	"testing"

	"salve/internal/pipeline/shell"
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

// TestWhereProgramsAre: a script is followed into folders that it names, and into
// scripts within it. What it makes up is said to be untold.
func TestWhereProgramsAre(t *testing.T) {
	for script, want := range map[string]string{
		"cd . && ./x":                                  "named ./x",
		"cd sub && ./x":                                "elsewhere sub/x",
		"cd sub\n./x\ncd ..\n./y":                      "elsewhere sub/x, named ./y",
		"cd sub && cd ../other && ../x":                "elsewhere ./x",
		"cd /opt/tools; ./x":                           "elsewhere /opt/tools/x",
		"(cd sub; ./x); ./y":                           "elsewhere sub/x, named ./y",
		"(cd sub && ./x) | tee log; ./y":               "elsewhere sub/x, named tee ./y",
		"out=$(cd sub; ./x); ./y":                      "elsewhere sub/x, named ./y",
		"cd sub & ./x":                                 "named ./x",
		"cd sub || exit 1; ./x":                        "elsewhere sub/x",
		"mkdir -p sub && cd sub && ./x; ./y":           "elsewhere sub/x, named mkdir, untold ./y",
		"if true; then cd sub; ./x; fi; ./y":           "elsewhere sub/x, untold ./y",
		"for i in 1 2; do cd s; ./x; cd ..; done; ./y": "elsewhere s/x, named ./y",
		"f() { cd sub; }; f; ./x":                      "untold ./x",
		"cd \"$D\"; ./x; /opt/y; z":                    "named /opt/y z, untold ./x",
		"cd; ./x":                                      "untold ./x",
		"cd -; ./x":                                    "untold ./x",
		"cd ~/bin; ./x":                                "untold ./x",
		"pushd sub; ./x; popd":                         "untold ./x",
		"bash -c './x --now'":                          "named ./x bash",
		"sh -euc \"./x; y\"; ./z":                      "named ./x y sh ./z",
		"bash -o pipefail -c 'cd sub; ./x'; ./y":       "elsewhere sub/x, named bash ./y",
		"bash -c \"$SCRIPT\"":                          "named bash, untold \"$SCRIPT\"",
		"bash ./x -c y":                                "named bash",
		"$TOOL x; ${OTHER:-y} z":                       "untold $TOOL ${OTHER:-y}",
		"eval \"$x\"":                                  "untold eval",
		"command -v jq && jq .":                        "",
	} {
		got, err := shell.ProgramsOf(script)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		}
		var says []string
		for _, list := range []struct {
			name  string
			names []string
		}{{"elsewhere", got.Elsewhere}, {"named", got.Named}, {"untold", got.Untold}} {
			if len(list.names) > 0 {
				says = append(says, list.name+" "+strings.Join(list.names, " "))
			}
		}
		if strings.Join(says, ", ") != want {
			t.Errorf("%s:\n got %q\nwant %q", script, strings.Join(says, ", "), want)
		}
	}
}

func TestWhatIsNoShell(t *testing.T) {
	if _, err := shell.Commands("echo hello\nif true; then"); err == nil || !strings.HasPrefix(err.Error(),
		"in its line 2, column 10: ") {
		t.Errorf("got %v, want the line", err)
	}
}

func TestWords(t *testing.T) {
	got, err := shell.Words(`t="$(mktemp ./x.XXX)"; go build -o "$t" ./x && mv "$t" ./bin/x`)
	if err != nil || strings.Join(got, " ") != "mktemp ./x.XXX go build -o ./x mv ./bin/x" {
		t.Errorf("%q, %v", got, err)
	}
}

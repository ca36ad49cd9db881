//go:build linux

package liveconfig

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

// realForm is what AKS's template makes of its lines, shortened: one line, a command of
// its own before the one that gets the variables, variables that run into each other,
// quotes in quotes, and a program that is a script itself.
const realForm = `PROVISION_OUTPUT="/var/log/azure/cluster-provision-cse-output.log"; ` +
	`echo $(date),$(hostname) > ${PROVISION_OUTPUT}; ` +
	`if [ -f /opt/azure/containers/cse_start_custom.sh ]; then /bin/bash /opt/azure/containers/cse_start_custom.sh ` +
	`>> ${PROVISION_OUTPUT} 2>&1; fi; ` +
	`ADMINUSER=azureuser MOBY_VERSION= TENANT_ID=tenant KUBERNETES_VERSION=1.33.1 ` +
	`API_SERVER_NAME=aks-dns-1234.hcp.westus3.azmk8s.io IS_VHD=true NO_PROXY_URLS="localhost,127.0.0.1" ` +
	`PROXY_VARS="export HTTPS_PROXY=\"https://p:443\"; export https_proxy=\"https://p:443\"; " ` +
	`KUBELET_FLAGS="--register-with-taints=a=b:NoSchedule --eviction-hard=memory.available<750Mi " ` +
	`KUBELET_CONFIG_FILE_ENABLED="true"PRE_PROVISION_ONLY="false" SSH_PUBLIC_KEY='a b' ` +
	`CSE_HELPERS_FILEPATH=/opt/azure/containers/provision_source.sh KUBE_CA_CRT="TFMwdExTMUNSVWRKVGc9PQ==" ` +
	`CSE_TIMEOUT=15m /usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"`

const (
	realServer    = "aks-dns-1234.hcp.westus3.azmk8s.io"
	realAuthority = "TFMwdExTMUNSVWRKVGc9PQ=="
)

func TestTheRealFormOfACommand(t *testing.T) {
	for name, script := range map[string]string{
		"one line":                        realForm,
		"with a line feed at its end":     realForm + "\n",
		"with the line of an interpreter": "#!/bin/bash\n" + realForm,
		"a variable on each line":         strings.ReplaceAll(realForm, " KUBE_CA", "\nKUBE_CA"),
		"lines that go on":                strings.ReplaceAll(realForm, " KUBE_CA", " \\\n KUBE_CA"),
		"exported":                        strings.ReplaceAll(realForm, "ADMINUSER=", "export ADMINUSER="),
	} {
		t.Run(name, func(t *testing.T) {
			found, err := assignments(script, serverVariable, authorityVariable)
			if err != nil || found[serverVariable] != realServer || found[authorityVariable] != realAuthority {
				t.Errorf("%q, %v", found, err)
			}
		})
	}
}

// What a shell sets the variable to, which bash says as well.
func TestWhatACommandSetsAVariableTo(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("there is no bash to compare with")
	}
	for script, want := range map[string]string{
		`N=a`:                             "a",
		`N=`:                              "",
		`N="a b"`:                         "a b",
		`N='a "b" $c \d'`:                 `a "b" $c \d`,
		`N="a \"b\" \$c \\ \d"`:           `a "b" $c \ \d`,
		`N=$'a\tb\x41\101\u00e9\'\\'`:     "a\tbAA\u00e9'\\",
		`N=a"b"'c'\ d$'e'`:                "abc de",
		"N=a\\\nb":                        "ab",
		"N=\"a\\\nb\nc\"":                 "ab\nc",
		`N=a#b`:                           "a#b",
		`N=a=b`:                           "a=b",
		`N=a{b,c}*?[d]`:                   "a{b,c}*?[d]",
		`N=a # N=b`:                       "a",
		"# N=b\nN=a":                      "a",
		`M=1 N=a true`:                    "a",
		`export N=a`:                      "a",
		`export M N=a O`:                  "a",
		`N=a; N=a`:                        "a",
		`N=a && true`:                     "a",
		`true; N=a`:                       "a",
		`true > /dev/null; N=a`:           "a",
		`N=a > /dev/null 2>&1 true`:       "a",
		`> /dev/null N=a true`:            "a",
		`echo x N_=b >/dev/null; N=a`:     "a",
		`if true; then M=b; fi; N=a`:      "a",
		`while false; do M=b; done;N=a`:   "a",
		`for m in 1 2; do M=b; done; N=a`: "a",
		`[ -n x ] || M=b; N=a`:            "a",
		`[[ -n x && -n y ]] && M=b; N=a`:  "a",
		`(M=b); N=a`:                      "a",
		`{ M=b; }; N=a`:                   "a",
		`f() { M=b; }; N=a`:               "a",
		"M=$(echo \")\" '(' `echo \\)`; (true)) N=a": "a",
		`M="$(echo "a \" )")" N=a`:                   "a",
		`M=${O:-"}"} N=a`:                            "a",
		`M=$((1+(2))) N=a`:                           "a",
		"M=`echo a`N=b; N=a":                         "a",
		`MN=b N=a`:                                   "a",
		`M="x"N=b; N=a`:                              "a",
	} {
		t.Run(script, func(t *testing.T) {
			found, err := assignments(script, "N")
			if err != nil || found["N"] != want {
				t.Errorf("%q, %v; want %q", found, err, want)
			}
			if bash == "" {
				return
			}
			// Variables before a command are seen by commands alone.
			show := filepath.Join(t.TempDir(), "true")
			writes(t, show, "#!/bin/sh\nprintf %s \"$N\" > \"$SHOWN\"\n")
			run := exec.Command(bash, "-c", "set -a; enable -n true\n"+script+"\n[ -z \"$N\" ] || true\n")
			run.Env = []string{"PATH=" + filepath.Dir(show) + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8",
				"SHOWN=" + show + ".shown"}
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if shown, _ := os.ReadFile(show + ".shown"); string(shown) != want {
				t.Errorf("to bash it is %q", shown)
			}
		})
	}
}

func writes(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestWhatACommandLeavesOpenIsAnError(t *testing.T) {
	for script, want := range map[string]string{
		`N=a; N=b`:                       "line 1: N is set to two things",
		"N=a\n\nexport N=b":              "line 3: N is set to two things",
		`N=a true; N= true`:              "line 1: N is set to two things",
		`N=a && true &`:                  "line 1: N is set in a process of its own",
		`N=a & >x | true`:                "line 1: N is set in a process of its own",
		`N[0]=a`:                         "line 1: N is named, and may be changed",
		`N+=a`:                           "line 1: N is added to",
		`N=$M`:                           "line 1: N is what only a shell could tell",
		`N="${M}a"`:                      "line 1: N is what only a shell could tell",
		`N=$(cat /etc/shadow)`:           "line 1: N is what only a shell could tell",
		"N=`id`":                         "line 1: N is what only a shell could tell",
		`N=~`:                            "line 1: N is what only a shell could tell",
		`N=$"a"`:                         "line 1: N is what only a shell could tell",
		`if true; then N=a; fi`:          "line 1: N is set depending on something",
		`while true; do N=a; done`:       "line 1: N is set depending on something",
		`until true; do N=a; done`:       "line 1: N is set depending on something",
		`for m in 1; do N=a; done`:       "line 1: N is set depending on something",
		`(N=a)`:                          "line 1: N is set depending on something",
		`f() { N=a; }`:                   "line 1: N is set depending on something",
		`false && N=a`:                   "line 1: N is set depending on something",
		`true || N=a`:                    "line 1: N is set depending on something",
		`N=a | cat`:                      "line 1: N is set in a process of its own",
		`cat | N=a`:                      "line 1: N is set depending on something",
		`N=a &`:                          "line 1: N is set in a process of its own",
		`echo N=a`:                       "line 1: N stands behind a command, and sets nothing",
		`echo "N=a"`:                     "line 1: N is in quotes itself",
		`declare N=a`:                    "line 1: N stands behind a command, and sets nothing",
		`'N=a'`:                          "line 1: N is in quotes itself",
		`N"="a`:                          "line 1: N is in quotes itself",
		`unset N`:                        "line 1: N is named, and may be changed",
		`read -r N`:                      "line 1: N is named, and may be changed",
		`N='a`:                           "line 1: a quote has no end",
		`N="a`:                           "line 1: a quote has no end",
		`N=$'a`:                          "line 1: a quote has no end",
		`N=$'\xzz'`:                      "line 1: an escape has no character",
		`N=$'\0'`:                        "line 1: an escape has no character",
		`N=$'\U00110000'`:                "line 1: an escape has no character",
		`N=$'\cx'`:                       "line 1: an escape is not known here",
		`N=a\`:                           "line 1: a backslash is the last character",
		`N=$(a`:                          "line 1: an expansion has no end",
		`N="$(a`:                         "line 1: an expansion has no end",
		"N=`a":                           "line 1: an expansion has no end",
		`N=a; )`:                         "line 1: a bracket closes nothing",
		`N=a; fi`:                        "line 1: fi closes nothing",
		`N=a; if true`:                   "the script ends in the middle of a command",
		`N=a; (true`:                     "the script ends in the middle of a command",
		`cat << N=a`:                     "line 1: a document in the script is not read here",
		`cat <(N=a)`:                     "line 1: a command in the place of a file is not read here",
		`case a in a) N=a;; esac`:        "line 1: a case is not read here",
		"N=a\x00":                        "line 1: the character 0x0 is none of a script's",
		"N=\"a\x00\"":                    "line 1: the character 0x0 is none of a script's",
		"N=a\r\n":                        "line 1: the character 0xd is none of a script's",
		"M=" + strings.Repeat("$(", 100): "line 1: expansions are nested too deep",
	} {
		t.Run(script, func(t *testing.T) {
			if found, err := assignments(script, "N"); err == nil || err.Error() != want || found != nil {
				t.Errorf("%q, %v; want %s", found, err, want)
			}
		})
	}
}

// Random words, which bash reads in one go.
func TestWordsAreReadLikeBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	pieces := []string{"a", "b=c", `\ `, `\"`, `\'`, `\\`, `\$`, `"`, `'`, `"`, `'`, `$'`, `\n`, `\x41`, `\101`, "é", "#",
		" ", "  ", "\\\n", "\n", ";", "$", "`", "{", "}", "*", "~", ":", "%", "!", ","}
	random := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	var wanted []string
	script.WriteString("show() { printf '%s\\0' \"$N\"; }\n")
	for len(wanted) < 1000 {
		line := "N="
		for range 1 + random.IntN(8) {
			line += pieces[random.IntN(len(pieces))]
		}
		found, err := assignments(line+" show", "N")
		if err != nil || !isOneWord(line) {
			continue
		}
		wanted = append(wanted, found["N"])
		script.WriteString(line + " show\n")
	}
	run := exec.Command(bash)
	run.Stdin, run.Env = strings.NewReader(script.String()), []string{"LC_ALL=C.UTF-8"}
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := range min(len(wanted), len(shown)) {
		if wanted[i] != shown[i] {
			t.Fatalf("word %d is %q, to bash %q", i, wanted[i], shown[i])
		}
	}
	if len(wanted) != len(shown) {
		t.Errorf("%d words, to bash %d", len(wanted), len(shown))
	}
}

// isOneWord tells whether a line is a word and no more.
func isOneWord(line string) bool {
	s := &shell{text: line}
	_, more, err := s.next()
	return err == nil && more && s.at == len(line)
}

func TestReadingACommandTakesTimeByItsLengthOnly(t *testing.T) {
	for name, script := range map[string]string{
		"one word":         "M=" + strings.Repeat("a", maxCommand),
		"quotes":           strings.Repeat(`"a" `, maxCommand/4),
		"assignments":      strings.Repeat("M=a ", maxCommand/4),
		"the same":         strings.Repeat("N=a ", maxCommand/4),
		"groups":           strings.Repeat("{ ", maxCommand/4) + strings.Repeat("} ", maxCommand/4),
		"expansions":       strings.Repeat("$(a) ", maxCommand/5),
		"an expansion":     "M=$(" + strings.Repeat("'a'", maxCommand/4) + ")",
		"comments":         strings.Repeat("#a\n", maxCommand/3),
		"lines that go on": strings.Repeat("\\\n", maxCommand/2),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, _ = assignments(script, "N") // milliseconds; hours if each character looked at the others
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func FuzzCommand(f *testing.F) {
	f.Add(realForm)
	for _, seed := range []string{"N=$'\\x41'", "if a; then N=b; fi", "N=\"$(a \")\")\"", "export N=a",
		"((", "]]", "[[ a ]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		found, err := assignments(script, "N", serverVariable)
		if err != nil {
			if found != nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, %v", found, err)
			}
			return
		}
		// What is found stays so when it is said once more, in quotes.
		for name, value := range found {
			again := script + "\n" + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n"
			if same, err := assignments(again, name); err != nil || same[name] != value {
				t.Errorf("%q: %q, %v", again, same, err)
			}
		}
	})
}

// Quoting a text and reading it gives it back.
func TestQuotedTextsComeBack(t *testing.T) {
	same := func(text string) bool {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, text)
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
		found, err := assignments(fmt.Sprintf(`N="%s"`, escaped), "N")
		return err == nil && found["N"] == text && slices.Equal([]byte(found["N"]), []byte(text))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

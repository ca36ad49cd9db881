//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const unitPath = "../../deploy/salve-node.service"

// unitSettingsOf is what systemd reads of a unit file: the values of each setting, by their order.
func unitSettingsOf(t testing.TB) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile(unitPath)
	check(t, err)
	settings := map[string][]string{}
	joined := strings.ReplaceAll(string(raw), "\\\n", " ") // and the indentation of the next line stays
	for line := range strings.Lines(joined) {
		name, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if is && !strings.HasPrefix(name, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	return settings
}

// wrapper are the words that systemd makes of the unit's ExecStart: the shell, -c, the
// script, its name and the folder. TestSystemdBoots compares them with systemd's own.
func wrapper(t testing.TB) []string {
	t.Helper()
	start := unitSettingsOf(t)["ExecStart"]
	if len(start) != 1 {
		t.Fatalf("%d commands", len(start))
	}
	words, err := splitLikeSystemd(start[0])
	check(t, err)
	if len(words) != 5 || words[1] != "-c" {
		t.Fatalf("the command has the words %q", words)
	}
	return words
}

// splitLikeSystemd splits a command line as
// https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines says, as far as it goes
// here.
func splitLikeSystemd(line string) (words []string, err error) {
	var word strings.Builder
	quote, inWord := byte(0), false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			if i++; i == len(line) || !strings.ContainsRune(`\"'`, rune(line[i])) {
				return nil, fmt.Errorf("an escape at %d that this test does not know", i)
			}
			word.WriteByte(line[i])
		case c == '$' || c == '%':
			if i++; i == len(line) || line[i] != c {
				return nil, fmt.Errorf("%q at %d would be replaced by systemd", c, i)
			}
			word.WriteByte(c)
		case quote == 0 && (c == '"' || c == '\'') && !inWord:
			quote, inWord = c, true
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && c == ' ':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// TestTheUnitKeepsItsPromises: each setting is one of the contract, docs/node-hotfix.md.
func TestTheUnitKeepsItsPromises(t *testing.T) {
	settings := unitSettingsOf(t)
	for name, want := range map[string][]string{
		"ConditionPathExists": {"|" + containers + "aks-node-controller-config.json",
			"|" + containers + "aks-node-controller-nbc-cmd.sh"},
		"Type": {"oneshot"}, "RemainAfterExit": {"yes"}, "OOMPolicy": {"continue"}, "KillMode": {"mixed"},
		"Delegate": {"yes"}, "LimitNOFILE": {"1024:524288"}, "TimeoutStartSec": {"45min"},
	} {
		if !slices.Equal(settings[name], want) {
			t.Errorf("%s=%q, want %q", name, settings[name], want)
		}
	}
	// Provisioning mounts, and what it mounts has to be the machine's.
	for _, name := range []string{"ProtectSystem", "PrivateTmp", "PrivateDevices", "ProtectHome", "ReadOnlyPaths",
		"ProtectKernelModules", "NoNewPrivileges", "MountFlags"} {
		if len(settings[name]) > 0 {
			t.Errorf("%s is set", name)
		}
	}
}

// TestTheWrapperFitsTheDefaults: the folder of the unit is that of salve-node's own defaults.
func TestTheWrapperFitsTheDefaults(t *testing.T) {
	words := wrapper(t)
	if words[0] != "/bin/sh" || words[4]+"/" != containers {
		t.Errorf("the command is %q … %q", words[0], words[4])
	}
	for _, path := range []string{defaultBaked, defaultStaged, defaultPointer} {
		if !strings.HasPrefix(path, containers) {
			t.Errorf("%s is elsewhere", path)
		}
	}
	if len(words[2]) > 4000 {
		t.Errorf("the script has %d bytes", len(words[2]))
	}
}

const containers = "/opt/azure/containers/"

func TestSystemdVerifiesTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", unitPath).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", unitPath).CombinedOutput()
	if err != nil && strings.Contains(string(out), "unrecognized option") {
		t.Skip("this systemd can't judge a file")
	}
	check(t, err)
	for _, setting := range []string{"LockPersonality=", "RestrictRealtime="} {
		if !strings.Contains(string(out), "✓ "+setting) {
			t.Errorf("systemd does not see %s\n%s", setting, out)
		}
	}
}

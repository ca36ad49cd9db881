//go:build linux

package liveconfig_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/liveconfig"
)

// Where a node learns whom to ask, when it has its configuration, its command or both.
// Each names a server of its own, by an authority of its own; the map to fall back on is
// the configuration's alone.
func TestWhoIsAskedByTheConfigurationAndTheCommand(t *testing.T) {
	first, second := newFront(t), newFront(t)
	first.answers = always(`{"hotfixes":{"202604.01":"202604.01.7"}}`, nil)
	second.answers = always(`{"hotfixes":{"202604.01":"202604.01.8"}}`, nil)
	named := map[string]string{
		"SERVER": first.serve(t), "AUTHORITY": base64.StdEncoding.EncodeToString(first.authority.pem),
		"OTHER": second.serve(t), "ITS": base64.StdEncoding.EncodeToString(second.authority.pem),
	}
	const (
		nowhere = ""
		whole   = `{"apiServerConfig":{"apiServerName":"SERVER"},"kubernetesCaCert":"AUTHORITY"}`
		command = `X="a b"; ADMINUSER=azureuser API_SERVER_NAME=OTHER KUBE_CA_CRT="ITS" /usr/bin/nohup /bin/bash -c "exit 1"`
	)
	for name, row := range map[string]struct {
		configuration, command string
		want                   liveconfig.Outcome
		target                 string
	}{
		"the configuration alone":  {whole, nowhere, liveconfig.LiveRead, "202604.01.7"},
		"the command alone":        {nowhere, command, liveconfig.LiveRead, "202604.01.8"},
		"the configuration counts": {whole, command, liveconfig.LiveRead, "202604.01.7"},
		"a command that can't be read is not looked at": {whole, `API_SERVER_NAME="`, liveconfig.LiveRead,
			"202604.01.7"},
		"a configuration that can't be read": {`{"apiServer`, command, liveconfig.LiveRead, "202604.01.8"},
		"an empty configuration":             {`{}`, command, liveconfig.LiveRead, "202604.01.8"},
		"a configuration with an authority that is no base64": {strings.Replace(whole, "AUTHORITY", "!", 1), command,
			liveconfig.LiveRead, "202604.01.8"},
		"both from the command where the configuration has no authority": {strings.Replace(whole, "AUTHORITY", "", 1),
			command, liveconfig.LiveRead, "202604.01.8"},
		"both from the command where the configuration has no server": {strings.Replace(whole, "SERVER", "", 1), command,
			liveconfig.LiveRead, "202604.01.8"},
		"no half from each": {strings.Replace(whole, "AUTHORITY", "", 1), strings.Replace(command, "API_SERVER_NAME", "X", 1),
			liveconfig.Failed, ""},
		"neither":                                 {nowhere, nowhere, liveconfig.Failed, ""},
		"a command without a server":              {nowhere, strings.Replace(command, "OTHER", "", 1), liveconfig.Failed, ""},
		"a command without an authority":          {nowhere, strings.Replace(command, "ITS", "", 1), liveconfig.Failed, ""},
		"a command whose authority is no base64":  {nowhere, strings.Replace(command, "ITS", "!", 1), liveconfig.Failed, ""},
		"a command whose authority is another's":  {nowhere, strings.Replace(command, "ITS", "AUTHORITY", 1), liveconfig.Failed, ""},
		"a command that only a shell could tell":  {nowhere, strings.Replace(command, "OTHER", "$(echo OTHER)", 1), liveconfig.Failed, ""},
		"a command with two servers":              {nowhere, "API_SERVER_NAME=SERVER\n" + command, liveconfig.Failed, ""},
		"a command with a server that is no name": {nowhere, strings.Replace(command, "OTHER", `"OTHER/x y"`, 1), liveconfig.Failed, ""},
		"a command larger than is read":           {nowhere, command + strings.Repeat("\n", 2<<20), liveconfig.Failed, ""},
		"the configuration's map, out of the reach of the command's server": {
			`{"hotfixes":{"202604.01":"202604.01.6"}}`, strings.Replace(command, "OTHER", "127.0.0.1:1", 1),
			liveconfig.ColdStartFallback, "202604.01.6"},
		"the configuration's map, where nothing names a server": {`{"hotfixes":{"202604.01":"202604.01.6"}}`, nowhere,
			liveconfig.ColdStartFallback, "202604.01.6"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "127.0.0.1:1", first.authority, "")
			n.settings.Command = filepath.Join(t.TempDir(), "command.sh")
			for path, content := range map[string]string{n.settings.Configuration: row.configuration,
				n.settings.Command: row.command} {
				for word, meant := range named {
					content = strings.ReplaceAll(content, `"`+word+`"`, `"`+meant+`"`)
					content = strings.ReplaceAll(content, "="+word+" ", "="+meant+" ")
				}
				if n.writes(t, path, content); content == nowhere {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			result := n.check(t)
			if result.Outcome != row.want || result.Decision.Wanted() != row.target {
				t.Errorf("%+v", result)
			}
			if row.want == liveconfig.Failed {
				n.has(t, legacy)
			}
		})
	}
}

// What is run is never the command: it is read, as what any program may have written.
func TestACommandIsNotExecuted(t *testing.T) {
	f := newFront(t)
	n := newNode(t, f.serve(t), f.authority, "")
	folder := t.TempDir()
	n.settings.Configuration, n.settings.Command = filepath.Join(folder, "none"), filepath.Join(folder, "command.sh")
	mark := filepath.Join(folder, "mark")
	n.writes(t, n.settings.Command, "touch "+mark+"\nX=$(touch "+mark+") API_SERVER_NAME=`touch "+mark+"` true\n")
	if result := n.check(t); result.Outcome != liveconfig.Failed ||
		!strings.Contains(result.Err.Error(), "line 2: API_SERVER_NAME is what only a shell could tell") {
		t.Errorf("%+v", result)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was executed")
	}
}

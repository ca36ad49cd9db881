//go:build linux

package liveconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"salve/internal/hotfix"
)

// The other source of a node's configuration is the command that provisions it, as one
// line of shell whose variables stand before the program:
//
//	PROVISION_OUTPUT="…"; …; API_SERVER_NAME=… KUBE_CA_CRT="…" /usr/bin/nohup /bin/bash -c "…"
//
// https://github.com/Azure/AgentBaker/blob/main/parts/linux/cloud-init/artifacts/cse_cmd.sh
// has what it is made of, and checkhotfix.go below aks-node-controller/ there reads the
// same two of it.
const (
	serverVariable    = "API_SERVER_NAME"
	authorityVariable = "KUBE_CA_CRT" // certificates in PEM, in base64
)

// maxCommand bounds the command, in bytes.
const maxCommand = 2 << 20

func readCommand(path string) (configuration, error) {
	raw, err := hotfix.ReadRegular(path, maxCommand)
	if err != nil {
		return configuration{}, fmt.Errorf("the node's command: %w", err)
	}
	values, err := assignments(string(raw), serverVariable, authorityVariable)
	if err != nil {
		return configuration{}, fmt.Errorf("the node's command %s: %w", path, err)
	}
	found := configuration{server: values[serverVariable]}
	if found.authority, err = base64.StdEncoding.DecodeString(values[authorityVariable]); err != nil {
		return configuration{}, fmt.Errorf("the node's command %s: %s: %w", path, authorityVariable, err)
	}
	return found, nil
}

// assignments gives what a script of shell sets variables to, of those that are asked
// for, without executing anything of it. They are set at the top of the script, alone,
// with export, or before a command. What is set depending on something, to something
// that only a shell could tell, or to two things, is an error.
func assignments(script string, names ...string) (map[string]string, error) {
	s := &shell{text: script, aside: -1}
	if i := strings.IndexFunc(script, noneOfAScript); i >= 0 {
		s.take(i)
		return nil, s.wrong(fmt.Sprintf("the character %#x is none of a script's", script[i]))
	}
	values := map[string]string{}
	last, of := -1, "" // list in which one was set last
	for {
		found, more, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case last >= 0 && s.aside == last:
			return nil, s.wrong(of + " is set in a process of its own")
		case !more && s.depth > 0:
			return nil, errors.New("the script ends in the middle of a command")
		case !more:
			return values, nil
		}
		i := slices.IndexFunc(names, found.isAbout)
		if i < 0 {
			continue
		}
		name := names[i]
		value, problem := found.value(name)
		if before, given := values[name]; problem == "" && given && before != value {
			problem = "is set to two things"
		}
		if problem != "" {
			return nil, fmt.Errorf("line %d: %s %s", found.line, name, problem)
		}
		values[name], last, of = value, found.list, name
	}
}

func noneOfAScript(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

// isAbout: it sets the variable, or it is its bare name, as read and unset take it.
func (w word) isAbout(name string) bool {
	rest, found := strings.CutPrefix(w.text, name)
	return found && !w.redirects && (rest == "" && !w.exported || rest != "" && strings.IndexByte("=+[", rest[0]) >= 0)
}

// value is what a word sets a variable to.
func (w word) value(name string) (value, problem string) {
	switch {
	case !strings.HasPrefix(w.text, name+"=") && !strings.HasPrefix(w.text, name+"+="):
		return "", "is named, and may be changed"
	case strings.HasPrefix(w.text, name+"+="):
		return "", "is added to"
	case w.quotedAt >= 0 && w.quotedAt <= len(name):
		return "", "is in quotes itself" // a command of that name, to a shell
	case !w.assigns:
		return "", "stands behind a command, and sets nothing"
	case w.depending:
		return "", "is set depending on something"
	case w.expanded:
		return "", "is what only a shell could tell"
	}
	return w.text[len(name)+1:], ""
}

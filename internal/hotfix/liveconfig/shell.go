//go:build linux

package liveconfig

import (
	"fmt"
	"strings"
)

// word is one of a script's.
type word struct {
	text string // without quotes
	line int
	// assigns: it is one of the first words of a command, or export's.
	assigns bool
	// exported: it is export's.
	exported bool
	// expanded: a shell would put something in the place of a part of it.
	expanded bool
	// quotedAt is where the first quote was, and -1 where none was.
	quotedAt int
	// depending: it stands in a compound command, or behind && or ||, or in a pipe.
	depending bool
	// redirects: it is where a redirection leads.
	redirects bool
	// list is the number of the list of commands that it is in.
	list int
}

// shell goes through the words of a script by the rules of
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html.
type shell struct {
	text  string
	at    int
	line  int // from 0
	depth int // in compound commands
	list  int
	// joined: the command is behind another by && or ||, or in a pipe.
	joined bool
	// aside is the last list that a process of its own runs, a part of it at least.
	aside int
	// begun: the command's name has come, and what follows are its arguments.
	begun, exports bool
	// target: the next word is where a redirection leads.
	target bool
}

func (s *shell) wrong(what string) error { return fmt.Errorf("line %d: %s", s.line+1, what) }

// next gives the next word, unless the script is at its end.
func (s *shell) next() (found word, more bool, err error) {
	for {
		s.blanks()
		if s.at >= len(s.text) {
			return word{}, false, nil
		}
		operator, err := s.operator()
		if err != nil {
			return word{}, false, err
		}
		if operator {
			continue
		}
		found, err := s.word()
		switch {
		case err != nil:
			return word{}, false, err
		case s.target:
			s.target, found.redirects = false, true
			return found, true, nil
		case s.isDescriptor(found):
			continue
		}
		return s.placed(found)
	}
}

// isDescriptor: a number right before a redirection says what is redirected.
func (s *shell) isDescriptor(found word) bool {
	return found.quotedAt < 0 && strings.Trim(found.text, "0123456789") == "" &&
		s.at < len(s.text) && (s.text[s.at] == '<' || s.text[s.at] == '>')
}

// blanks goes over spaces, comments and escaped line feeds.
func (s *shell) blanks() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t':
			s.at++
		case strings.HasPrefix(s.text[s.at:], "\\\n"):
			s.at += 2
			s.line++
		case c == '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
		default:
			return
		}
	}
}

// operator goes over what ends a command or redirects it.
func (s *shell) operator() (found bool, err error) {
	rest := s.text[s.at:]
	switch c := rest[0]; c {
	case '\n', ';', '&', '|', '(', ')':
		if strings.HasPrefix(rest, "&>") {
			s.at += 2
			s.target = true
			return true, nil
		}
		return true, s.ends(c, len(rest) > 1 && rest[1] == c)
	case '<', '>':
		s.at++
		rest = rest[1:]
		switch {
		case strings.HasPrefix(rest, "("):
			return false, s.wrong("a command in the place of a file is not read here")
		case c == '<' && strings.HasPrefix(rest, "<"):
			return false, s.wrong("a document in the script is not read here")
		}
		for s.at < len(s.text) && strings.IndexByte("<>&|", s.text[s.at]) >= 0 {
			s.at++
		}
		s.target = true
		return true, nil
	}
	return false, nil
}

// ends goes over what ends a command.
func (s *shell) ends(c byte, doubled bool) error {
	s.begun, s.exports, s.target = false, false, false
	s.take(1)
	switch c {
	case '(':
		s.depth++
	case ')':
		if s.depth--; s.depth < 0 {
			return s.wrong("a bracket closes nothing")
		}
	case '&', '|':
		if doubled {
			s.take(1)
		} else {
			s.aside = s.list
		}
		if s.joined = doubled || c == '|'; s.joined {
			return nil
		}
	}
	s.list++
	s.joined = false
	return nil
}

// placed says where in its command a word stands.
func (s *shell) placed(found word) (placed word, more bool, err error) {
	plain := found.quotedAt < 0 && !found.expanded
	found.depending, found.exported, found.list = s.depth > 0 || s.joined, s.exports, s.list
	if !s.begun && plain {
		switch found.text {
		case "case":
			return word{}, false, s.wrong("a case is not read here") // its patterns end in brackets that nothing opens
		case "if", "for", "while", "until", "{", "select", "[[":
			s.depth++
			s.begun = found.text == "for" || found.text == "select" || found.text == "[["
			return found, true, nil
		case "then", "else", "elif", "do", "!", "time":
			return found, true, nil
		case "fi", "done", "}":
			if s.depth--; s.depth < 0 {
				return word{}, false, s.wrong(found.text + " closes nothing")
			}
			s.begun = true
			return found, true, nil
		case "export":
			s.begun, s.exports = true, true
			return found, true, nil
		}
	}
	if s.begun && plain && found.text == "]]" && s.depth > 0 {
		s.depth--
		return found, true, nil
	}
	if s.begun && !s.exports {
		return found, true, nil
	}
	name, _, isAssignment := strings.Cut(found.text, "=")
	found.assigns = isAssignment && isName(strings.TrimSuffix(name, "+"))
	if !found.assigns && !s.exports {
		s.begun = true
	}
	return found, true, nil
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" &&
		(text[0] < '0' || text[0] > '9')
}

// word reads one, and takes its quotes away.
func (s *shell) word() (word, error) {
	found := word{line: s.line + 1, quotedAt: -1}
	var text strings.Builder
	quoted := func() {
		if found.quotedAt < 0 {
			found.quotedAt = text.Len()
		}
	}
	for s.at < len(s.text) && strings.IndexByte(" \t\n;&|()<>", s.text[s.at]) < 0 {
		var err error
		switch c := s.text[s.at]; {
		case c == '\'':
			quoted()
			err = s.single(&text)
		case c == '"':
			quoted()
			err = s.double(&text, &found)
		case c == '\\':
			quoted()
			err = s.escaped(&text)
		case strings.HasPrefix(s.text[s.at:], "$'"):
			quoted()
			err = s.dollarSingle(&text)
		case c == '$' || c == '`':
			found.expanded = true
			err = s.expansion(&text)
		case strings.IndexByte("*?[~{", c) >= 0:
			// It stands for names of files, or a folder, or several words; so it does not in
			// assignments, but for the tilde.
			found.expanded = found.expanded || c == '~'
			text.WriteByte(c)
			s.at++
		default:
			text.WriteByte(c)
			s.at++
		}
		if err != nil {
			return word{}, err
		}
	}
	found.text = text.String()
	return found, nil
}

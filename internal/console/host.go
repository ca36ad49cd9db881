package console

import (
	"strings"
	"unicode"
)

// Host is what shows the output of a process, where that obeys commands in it.
type Host int

// The hosts.
const (
	// NoHost obeys nothing in an output.
	NoHost Host = iota
	// GitHubActions obeys lines that begin with ::
	// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions), and its older ##[ anywhere
	// (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs).
	GitHubActions
	// AzurePipelines obeys ##vso[ anywhere and ##[ at the beginning of a line
	// (https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands).
	AzurePipelines
)

// HostOf tells from the environment of a process where it runs.
func HostOf(lookup func(string) string) Host {
	switch {
	case lookup("GITHUB_ACTIONS") == "true":
		return GitHubActions
	case strings.EqualFold(lookup("TF_BUILD"), "true"):
		return AzurePipelines
	}
	return NoHost
}

// severity is how a host marks a line.
type severity int

const (
	notice severity = iota
	warning
	failure
)

// open and end are the lines around a group; empty where the host has no groups.
func (h Host) open(title string) string {
	switch h {
	case GitHubActions:
		return "::group::" + githubData(title)
	case AzurePipelines:
		return "##[group]" + azureData(title)
	case NoHost:
	}
	return ""
}

func (h Host) end() string {
	switch h {
	case GitHubActions:
		return "::endgroup::"
	case AzurePipelines:
		return "##[endgroup]"
	case NoHost:
	}
	return ""
}

// mark is the line that has the host show a text above the log; empty where it shows none of that severity.
func (h Host) mark(of severity, title, text string) string {
	switch h {
	case GitHubActions:
		name := map[severity]string{notice: "notice", warning: "warning", failure: "error"}[of]
		return "::" + name + " title=" + githubProperty(title) + "::" + githubData(text)
	case AzurePipelines:
		name := map[severity]string{warning: "warning", failure: "error"}[of]
		if name == "" {
			return ""
		}
		return "##vso[task.logissue type=" + name + "]" + azureData(title+": "+text)
	case NoHost:
	}
	return ""
}

// githubData and githubProperty escape as the runner unescapes. Colons are no part of a command's data.
func githubData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(inert(text))
}

func githubProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubData(text))
}

func azureData(text string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A").Replace(inert(text))
}

// inert is a text of others within a command of ours.
func inert(text string) string { return new(CommandFilter).Filter("\x20" + text)[1:] }

// CommandFilter takes the power out of what a host would obey in a text: of a command's beginning the last character
// becomes an escape such as \u005b, which in a JSON string stands for the same. It knows what came before, so that a
// command can't be written in pieces. What is no command stays as it is.
//
// Case and characters without width make no difference: hosts differ in what they compare.
type CommandFilter struct {
	// begun is the beginning of a ##[ or ##vso[ that was written last, and line what the line holds so far.
	begun string
	line  lineState
}

// lineState is what a line holds so far: nothing but spaces, then one colon, or more.
type lineState int

const (
	blank lineState = iota
	colon
	other
)

// Filter gives the next part of an output.
func (f *CommandFilter) Filter(text string) string {
	if f.begun == "" && f.line == other && !strings.ContainsAny(text, "#:\n\r") {
		return text
	}
	var made strings.Builder
	for _, char := range text {
		switch {
		case invisible(char):
			made.WriteRune(char)
		case f.completes(char) || f.line == colon && char == ':':
			f.line = other
			made.WriteString(map[bool]string{true: `\u003a`, false: `\u005b`}[char == ':'])
		default:
			f.line = f.line.after(char)
			made.WriteRune(char)
		}
	}
	return made.String()
}

// completes tells whether a character makes a command of what was written.
func (f *CommandFilter) completes(char rune) bool {
	written := f.begun + strings.ToLower(string(char))
	f.begun = ""
	for _, command := range []string{"##[", "##vso["} {
		switch {
		case written == command:
			return true
		case strings.HasPrefix(command, written):
			f.begun = written
		}
	}
	if f.begun == "" && char == '#' {
		f.begun = "#"
		if strings.HasSuffix(written, "##") {
			f.begun = "##"
		}
	}
	return false
}

func (l lineState) after(char rune) lineState {
	switch {
	case char == '\n' || char == '\r':
		return blank
	case l == blank && unicode.IsSpace(char):
		return blank
	case l == blank && char == ':':
		return colon
	}
	return other
}

// invisible tells whether a comparison may pass over a character.
func invisible(char rune) bool { return unicode.In(char, unicode.Mn, unicode.Me, unicode.Cf) }

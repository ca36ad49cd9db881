package finding

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// GitHub writes findings as workflow commands, which GitHub Actions shows beside the
// lines of a change. Files are as positions name them, which GitHub takes from the
// root of the repository. OK is not written.
//
// The commands: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands;
// their escaping: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
func GitHub(w io.Writer, list List) error {
	if err := list.Validate(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, f := range list {
		if f.Severity != OK {
			fmt.Fprintln(out, f.workflowCommand())
		}
	}
	return out.Flush()
}

func (f Finding) workflowCommand() string {
	var properties []string
	add := func(name, value string) { properties = append(properties, name+"="+escapeProperty(value)) }
	if f.Position.File != "" {
		add("file", f.Position.File)
	}
	if f.Position.Line > 0 {
		add("line", fmt.Sprint(f.Position.Line))
		add("col", fmt.Sprint(max(f.Position.Column, 1)))
	}
	add("title", strings.TrimSpace(f.Rule+" "+f.Subject.String()))
	lines := append([]string{f.Message}, f.Evidence...)
	if f.Mend != "" {
		lines = append(lines, "mend: "+f.Mend)
	}
	return "::" + f.command() + " " + strings.Join(properties, ",") + "::" + escapeData(strings.Join(lines, "\n"))
}

func (f Finding) command() string {
	switch f.Severity {
	case Alert:
		return "error"
	case Warn, Unknown:
		return "warning"
	default:
		return "notice"
	}
}

func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

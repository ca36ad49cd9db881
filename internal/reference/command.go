package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// generated stands at the top of each page that describes a program.
func generated(program string) string {
	return "<!-- Generated from " + program + " by make reference. Do not edit. -->\n\n"
}

// Row is a line of a table: what it is about, and what is said of it.
type Row struct{ Name, Says string }

// Program is the page of a program that has commands without flags of their own.
func Program(name, about string, commands []Row, all *pflag.FlagSet) []byte {
	var page strings.Builder
	page.WriteString(generated(name))
	fmt.Fprintf(&page, "# %s\n\n%s\n\n| command | what it does |\n| --- | --- |\n", name, prose(about))
	for _, row := range commands {
		fmt.Fprintf(&page, "| `%s %s` | %s |\n", name, row.Name, cell(row.Says))
	}
	page.WriteString("\n")
	flags(&page, all)
	return []byte(page.String())
}

// Command is the page of a command and of all commands below it.
func Command(command *cobra.Command) []byte {
	var page strings.Builder
	page.WriteString(generated(command.Root().Name()))
	section(&page, command, 1)
	return []byte(page.String())
}

// Commands lists the commands of a program, each with its page, and the flags that all of them have.
func Commands(root *cobra.Command) []byte {
	var page strings.Builder
	page.WriteString(generated(root.Name()))
	fmt.Fprintf(&page, "# Commands\n\n%s.\n\n| command | what it does |\n| --- | --- |\n", root.Short)
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() {
			fmt.Fprintf(&page, "| [`%s`](%s.md) | %s |\n", command.CommandPath(), command.Name(), cell(command.Short))
		}
	}
	page.WriteString("\nThese flags belong to every command:\n\n")
	flags(&page, root.PersistentFlags())
	return []byte(page.String())
}

// section describes a command, and those below it with one level more.
func section(page *strings.Builder, command *cobra.Command, level int) {
	fmt.Fprintf(page, "%s %s\n\n", strings.Repeat("#", min(level, 4)), command.CommandPath())
	about := command.Long
	if about == "" {
		about = command.Short + "."
	}
	fmt.Fprintf(page, "%s\n\n", prose(about))
	if command.Runnable() && !(command.HasAvailableSubCommands() && !command.HasAvailableLocalFlags()) {
		fmt.Fprintf(page, "```text\n%s\n```\n\n", command.UseLine())
	}
	if command.Example != "" {
		fmt.Fprintf(page, "```sh\n%s\n```\n\n", unindent(command.Example))
	}
	if command.LocalNonPersistentFlags().HasAvailableFlags() {
		flags(page, command.LocalNonPersistentFlags())
	}
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() {
			section(page, below, level+1)
		}
	}
}

// flags are a table, by name.
func flags(page *strings.Builder, all *pflag.FlagSet) {
	page.WriteString("| flag | meaning |\n| --- | --- |\n")
	all.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(flag)
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(page, "| `%s` | %s%s |\n", strings.ReplaceAll(name, "|", `\|`), cell(usage), defaultOf(flag))
	})
	page.WriteString("\n")
}

// defaultOf says what a flag is when nobody gives it, where that is something.
func defaultOf(flag *pflag.Flag) string {
	switch flag.DefValue {
	case "", "[]", "false", "0", "0s":
		return ""
	}
	return " (default `" + strings.ReplaceAll(flag.DefValue, "|", `\|`) + "`)"
}

// prose keeps the paragraphs of a help text. What is indented there stays as it is.
func prose(text string) string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n  ") {
			out = append(out, "```text\n"+paragraph+"\n```")
			continue
		}
		out = append(out, escape(paragraph))
	}
	return strings.Join(out, "\n\n")
}

// cell is a text in a table, on one line.
func cell(text string) string {
	return strings.ReplaceAll(escape(strings.Join(strings.Fields(text), " ")), "|", `\|`)
}

// escape keeps a plain text from being read as Markdown or HTML.
func escape(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`).Replace(text)
}

// unindent takes the indentation of the help off an example.
func unindent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

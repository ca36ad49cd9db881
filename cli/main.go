package cli

import "github.com/spf13/cobra"

// Options are what a program brings to the command line.
type Options struct {
	// Name is the program's; salve when empty. About is the first line of its help.
	Name, About string
	// Runbooks are those that the commands offer: BuiltIn, those of a site, or both.
	Runbooks []Provider
	// Commands stand in the place of salve's own.
	Commands []*cobra.Command
}

// Main runs the command that the process's arguments name and gives its exit code. A
// program whose runbooks have invalid names, the same name, or flags of salve's own is
// refused.
func Main(options Options) int {
	a := newApp()
	a.program = options
	return execute(a)
}

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newDocs writes the pages of a release that are made from the commands.
func newDocs(root *cobra.Command) *cobra.Command {
	command := parent("docs", "Write the manual pages of all commands")
	command.AddCommand(&cobra.Command{
		Use: "man FOLDER", Short: "Write a manual page of each command to a folder",
		Args: oneArgument("a folder"),
		Example: `  # Read one of them
  salve docs man ./man && man ./man/salve-run.1`,
		RunE: func(_ *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o750); err != nil {
				return fmt.Errorf("making the folder of the manual: %w", err)
			}
			root.DisableAutoGenTag = true // the same program writes the same pages
			header := &doc.GenManHeader{Section: "1", Source: "salve", Manual: "Salve"}
			if err := doc.GenManTree(root, header, arguments[0]); err != nil {
				return fmt.Errorf("writing the manual: %w", err)
			}
			return nil
		},
	})
	return command
}

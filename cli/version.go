package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"salve/internal/report"
)

// built says which program this is.
type built struct {
	report.Document
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print which program this is", Example: `  # Which program this is, for a bug report
  salve version -o json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			version := builtFrom()
			if a.json() {
				return a.document(version)
			}
			_, err := fmt.Fprintf(a.stdout, "salve %s %s (%s)\n", version.Version, version.Revision, version.Go)
			return err
		},
	}
}

// String is the version with the revision that it was built from.
func (b built) String() string { return b.Version + " " + b.Revision }

func builtFrom() built {
	from := built{
		Document: report.NewDocument("version"), Version: "unreleased", Revision: "unknown revision", Go: runtime.Version(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return from
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		from.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			from.Revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			from.Revision += "+modified"
		}
	}
	return from
}

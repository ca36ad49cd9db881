package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"salve/internal/apierr"
	"salve/internal/report"
	"salve/journal"
)

// listExports prints what a run exported.
func (a *app) listExports(history *journal.History) error {
	list, err := report.NewExportList(history)
	if err != nil {
		return err
	}
	says := fmt.Sprintf("%s of run %s. hint: %s", report.Count(len(list.Exports), "export", "exports"), history.Header.Run,
		shell([]string{a.name(), "runs", "show", history.Header.Run, "--export", "NAME"})+" > FILE")
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(list)
	}
	if len(list.Exports) > 0 {
		if err = errors.Join(report.Exports(a.stdout, a.width(), list), blank(a)); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, says)
	return nil
}

// printExports prints exports of a run whole, as they were kept, one after the other. All
// of them are read and verified before the first is printed.
func (a *app) printExports(ctx context.Context, record *journal.Record, names []string) error {
	out, ok := a.stdout.(*stream)
	switch {
	case a.json():
		return usage("--export prints bytes as they were kept, not --output json")
	case !ok || terminal(a.stdout) != nil:
		return usage("--export prints bytes as they were kept, not for a terminal. hint: > FILE")
	}
	var contents [][]byte
	for _, name := range names {
		content, err := record.ReadExport(ctx, name)
		switch {
		case err != nil && !slices.ContainsFunc(record.Exports(), func(e journal.Export) bool { return e.Name == name }):
			return usage("export %q not found in run %q. hint: %s", name, record.Run,
				shell([]string{a.name(), "runs", "show", record.Run, "--exports"}))
		case err != nil && apierr.ClassOf(err) == apierr.Denied:
			return fmt.Errorf("%w. hint: the role salve-exports of deploy/exports-role.yaml gives the right to read exports",
				err)
		case err != nil:
			return err
		}
		contents = append(contents, content)
	}
	for _, content := range contents {
		if err := out.raw(content); err != nil {
			return err
		}
	}
	return nil
}

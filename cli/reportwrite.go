package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"salve/internal/report/page"
	"salve/internal/report/postmortem"
)

// The forms of a draft.
const (
	asMarkdown = "markdown"
	asHTML     = "html"
	asJSON     = "json"
)

func reportForms() []string { return []string{asMarkdown, asHTML, asJSON} }

// settleForm decides the form of the draft: by --output if it was given, or else by the name of the file.
func (r *reportRequest) settleForm(given, json bool) error {
	switch ending := strings.ToLower(filepath.Ext(r.write)); {
	case given:
	case json:
		r.form = asJSON
	case ending == ".html", ending == ".htm":
		r.form = asHTML
	}
	return checkForm(r.form, reportForms()...)
}

// blocksOf writes the draft in a form that people edit.
func blocksOf(form string, draft postmortem.Draft) ([]postmortem.Block, error) {
	if form == asHTML {
		return page.Blocks(draft)
	}
	return postmortem.Blocks(draft), nil
}

// sameForm refuses to put blocks of one form into a document of another.
func sameForm(asked *reportRequest, written []byte) error {
	switch isPage := page.Is(written); {
	case isPage && asked.form == asMarkdown:
		return usage("--write %s: the file is an HTML page, and blocks of Markdown can't go into it. Nothing was written. "+
			"hint: --output html, or another file", asked.write)
	case !isPage && asked.form == asHTML:
		return usage("--write %s: the file is no HTML page, and blocks of HTML can't go into it. Nothing was written. "+
			"hint: --output markdown, or another file", asked.write)
	}
	return nil
}

// writeReport writes a new document, or the blocks of one that there is.
func (a *app) writeReport(asked *reportRequest, blocks []postmortem.Block) error {
	path := asked.write
	text := postmortem.Document(blocks)
	written, err := readRegular(path, largestDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(written) == 0:
	case err != nil:
		return usage("--write: %v", err)
	default:
		if err := sameForm(asked, written); err != nil {
			return err
		}
		if postmortem.Redacted(written) && !asked.redact {
			return usage("--write %s: the file is redacted, and without --redact the names would be in it again. Nothing was "+
				"written. hint: --redact with the --redact-key of before, or another file", asked.write)
		}
		merged, err := postmortem.Merge(written, blocks, asked.merging)
		if err != nil {
			return usage("%s: %v. Nothing was written", asked.write, err)
		}
		if len(merged.Deleted) == len(blocks) {
			return usage("--write %s: the file has none of the report's blocks, so that nothing of it can be made again. "+
				"Nothing was written. hint: another file, or --restore-deleted to add them at its end", asked.write)
		}
		a.sayMerged(asked.write, merged)
		text = merged.Text
	}
	err = writeWhole(path, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	fmt.Fprintf(a.stderr, "Written to %s.\n", asked.write)
	return nil
}

func (a *app) sayMerged(path string, merged postmortem.Merged) {
	say := func(ids []postmortem.SectionID, what string) {
		for _, id := range ids {
			fmt.Fprintf(a.stderr, "%s: block %q %s\n", path, id, what)
		}
	}
	say(merged.Kept, "was edited by hand and is kept; --replace-edited makes it again")
	say(merged.Deleted, "is not there and stays away; --restore-deleted brings it back")
	say(merged.Unknown, "is not one of this report and is kept")
}

package report

import (
	"io"
	"strconv"
	"time"

	"salve/journal"
)

// Exported is what a run keeps whole and apart from its record.
type Exported struct {
	journal.Export
	At time.Time `json:"at"`
}

// ExportList is the document of all that a run exported.
type ExportList struct {
	Document
	Header  journal.Header `json:"header"`
	Exports []Exported     `json:"exports"`
}

// NewExportList reads what a run exported from its journal.
func NewExportList(history *journal.History) (ExportList, error) {
	list := ExportList{Document: NewDocument("exports"), Header: history.Header, Exports: []Exported{}}
	at := map[string]time.Time{}
	for _, entry := range history.Entries {
		if entry.Kind != journal.Exported {
			continue
		}
		if err := with(entry, func(export journal.Export) { at[export.Name] = entry.At }); err != nil {
			return list, err
		}
	}
	for _, export := range history.Exports() {
		list.Exports = append(list.Exports, Exported{Export: export, At: at[export.Name]})
	}
	return list, nil
}

// Exports prints what a run exported as a table.
func Exports(out io.Writer, width int, list ExportList) error {
	rows := make([][]string, 0, len(list.Exports))
	for _, one := range list.Exports {
		rows = append(rows, []string{one.Name, strconv.Itoa(one.Size), moment(one.At), one.Sum})
	}
	return Table(out, width, []string{"NAME", "BYTES", "AT", "SHA-256"}, rows)
}

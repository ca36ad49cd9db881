package report

import (
	"fmt"
	"io"
	"strconv"

	"salve/journal"
)

// Requested is one change that a run sent, or several alike: what was asked of which server under which permit, and the
// answer.
type Requested struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	Permit  string `json:"permit"`
	journal.Request
}

// RequestTrail is the document of all changes that a run sent.
type RequestTrail struct {
	Document
	Header   journal.Header `json:"header"`
	Requests []Requested    `json:"requests"`
	// Unlisted is how many more were sent than the record lists.
	Unlisted int `json:"unlisted,omitempty"`
}

// NewRequestTrail reads the audit trail of a run from its journal.
func NewRequestTrail(history *journal.History) (RequestTrail, error) {
	trail := RequestTrail{Document: NewDocument("requests"), Header: history.Header, Requests: []Requested{}}
	for _, entry := range history.Entries {
		if entry.Kind != journal.Requested {
			continue
		}
		err := with(entry, func(sent journal.Requests) {
			trail.Unlisted += sent.More
			for _, one := range sent.Made {
				trail.Requests = append(trail.Requests, Requested{entry.Step, sent.Attempt, sent.Permit, one})
			}
		})
		if err != nil {
			return trail, err
		}
	}
	return trail, nil
}

// Requests writes the audit trail as a table.
func Requests(out io.Writer, width int, trail RequestTrail) error {
	rows := make([][]string, 0, len(trail.Requests))
	for _, one := range trail.Requests {
		rows = append(rows, []string{
			one.Step, strconv.Itoa(one.Attempt), one.Permit, one.Method, answered(one.Request),
			strconv.Itoa(one.Count), one.Path,
		})
	}
	return Table(out, width, []string{"STEP", "ATTEMPT", "PERMIT", "METHOD", "STATUS", "COUNT", "PATH"}, rows)
}

// answered is the HTTP status, or what the lack of an answer means.
func answered(request journal.Request) string {
	if request.Status == 0 {
		return fmt.Sprintf("none (%s)", request.Class)
	}
	return strconv.Itoa(request.Status)
}

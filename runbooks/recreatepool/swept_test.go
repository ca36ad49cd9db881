package recreatepool

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// Why a reading has what a guard does not take.
const (
	forOthers   = "all guards of a round share the reading"
	onlyWhether = "only whether there is one"
)

// shared gives the fields that all readings of the runbook have.
func shared() []string {
	fields := []string{"absent", "before", "deleted", "recreated", "reduced", "run", "now"}
	for _, field := range []string{"id", "name", "etag", "state", "version", "nodeResourceGroup", "hosts", "seen"} {
		fields = append(fields, "cluster."+field)
	}
	for _, field := range []string{"name", "state", "etag", "mode", "osType", "count", "minCount", "tags", "labels"} {
		fields = append(fields, "cluster.pools[]."+field)
	}
	return fields
}

// What evidence takes of the reading, in the form in which guards have it most.
var (
	ofTheCluster = []string{"cluster.id", "cluster.etag", "cluster.state", "cluster.seen"}
	ofAPool      = []string{"cluster.pools[].etag", "cluster.pools[].state", "cluster.pools[].count"}
)

// swept is a row of the sweep, from readings that have a guard give each of its answers. Shared fields that it does
// not name are those of other guards.
type swept struct {
	readings []any
	answers  []runbook.Answer
	// decides are shared fields.
	decides, said, evidence []string
	unused                  map[string]string
}

func (s swept) row() runbooktest.Row {
	row := runbooktest.Row{Answers: s.answers, Said: s.said, Unused: map[string]string{}}
	maps.Copy(row.Unused, s.unused)
	for _, field := range s.evidence {
		if !slices.Contains(slices.Concat(s.decides, s.said), field) {
			row.Evidence = append(row.Evidence, field)
		}
	}
	for _, above := range []string{"cluster.pools", "cluster"} {
		below := func(field string) bool {
			return strings.HasPrefix(field, above+".") || strings.HasPrefix(field, above+"[")
		}
		switch {
		case slices.ContainsFunc(s.decides, below):
		case slices.ContainsFunc(s.said, below):
			row.Said = append(row.Said, above)
		case slices.ContainsFunc(s.evidence, below):
			row.Evidence = append(row.Evidence, above)
		default:
			row.Unused[above] = forOthers
		}
	}
	named := slices.Concat(s.decides, row.Said, row.Evidence, slices.Collect(maps.Keys(row.Unused)))
	for _, field := range shared() {
		under := func(named string) bool { return row.Unused[named] != "" && strings.HasPrefix(field, named) }
		if !slices.Contains(named, field) && !slices.ContainsFunc(named, under) {
			row.Unused[field] = forOthers
		}
	}
	if row.Unused["cluster"] != "" {
		delete(row.Unused, "cluster.pools")
	}
	for _, reading := range s.readings {
		raw, _ := json.Marshal(reading) // a reading can always be encoded
		row.Readings = append(row.Readings, string(raw))
	}
	return row
}

const (
	yes    = runbook.AnswerHolds
	no     = runbook.AnswerDoesNotHold
	unseen = runbook.AnswerUnknown
)

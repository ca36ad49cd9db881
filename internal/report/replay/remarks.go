package replay

import (
	"fmt"

	"salve/journal"
)

// remarks say where a record ends before its run did: what was decided after that is not in it, and a replay that comes
// to the same says nothing of it.
func remarks(history *journal.History) []string {
	var said []string
	if history.Torn {
		said = append(said, "the record's last line is torn: an entry whose writing was cut short, or is under way. "+
			"What it said is not replayed")
	}
	if at := narrowedAt(history); at > 0 {
		said = append(said, fmt.Sprintf("an approval narrowed the run at entry %d: what was decided before, with other "+
			"inputs, is not replayed", at))
	}
	switch n := len(history.Entries); {
	case history.MigratedTo != nil:
		said = append(said, fmt.Sprintf("the record was migrated to %s: what was decided there is not replayed",
			history.MigratedTo.Where))
	case history.Closed != nil || n == 0:
	case history.Parked != nil:
		said = append(said, fmt.Sprintf("the record ends without a close, at entry %d: the run waits to be resumed, or the "+
			"end of its record was cut off. What was decided after that is not replayed", n))
	default:
		said = append(said, fmt.Sprintf("the record ends without a close, at entry %d (%s): the run is at work, its process "+
			"died, or the end of its record was cut off. What was decided after that is not replayed",
			n, history.Entries[n-1].Kind))
	}
	return said
}

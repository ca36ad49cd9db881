package postmortem

import (
	"encoding/json"
	"fmt"
	"time"

	"salve/internal/report"
	"salve/journal"
)

// turn is where the clock of one record runs backwards: a line that is timed before the one that it follows.
type turn struct {
	source Source
	// what is the line, and follows the one before it, as they are called.
	what, follows string
	at, before    time.Time
	why           string
}

// turned keeps where a clock runs backwards, as far as the bounds reach.
func (s *story) turned(t turn) {
	if t.at.Before(t.before) && (s.options.within(t.at) || s.options.within(t.before)) {
		s.turns = append(s.turns, t)
	}
}

// readTurns finds where the clock of a journal runs backwards: in which order its entries were written the chain says,
// whatever their times are.
func (s *story) readTurns(history *journal.History, run Run) {
	host := history.Header.Holder.Host
	for i, entry := range history.Entries {
		earlier := host
		if entry.Kind == journal.Resumed {
			var resumption journal.Resumption
			if json.Unmarshal(entry.Data, &resumption) == nil && resumption.Holder.Host != "" {
				host = resumption.Holder.Host
			}
		}
		if i == 0 {
			continue
		}
		source := run.source()
		source.At = entry.Seq
		s.turned(turn{
			source: source, at: entry.At, before: history.Entries[i-1].At, why: whoseClock(host, earlier),
			what: fmt.Sprintf("Entry %d of run %s", entry.Seq, run.Run), follows: fmt.Sprintf("entry %d", entry.Seq-1),
		})
	}
}

// whoseClock says whose clock it is: one machine's, or that of one that went on with a run of another's.
func whoseClock(host, earlier string) string {
	switch {
	case host != earlier:
		return fmt.Sprintf("the clock of host %s, which went on with the run, is behind that of host %s", host, earlier)
	case host != "":
		return fmt.Sprintf("the clock of host %s ran backwards", host)
	}
	return "the clock of the machine that wrote them ran backwards"
}

// readWatchTurns finds where the clock of a watch runs backwards.
func (s *story) readWatchTurns(file WatchFile) {
	for i, change := range file.Changes {
		if i == 0 {
			continue
		}
		before := file.Changes[i-1]
		s.turned(turn{
			source: Source{Kind: FromWatch, Of: file.Name, At: change.Line}, at: change.Time, before: before.Time,
			what: fmt.Sprintf("Line %d of %s", change.Line, file.Name), follows: fmt.Sprintf("line %d", before.Line),
			why: "the clock of the watch ran backwards, or the file is of several watches",
		})
	}
}

func (t turn) item() Item {
	back := t.before.Sub(t.at)
	long := span(back)
	if back < time.Second {
		long = back.String()
	}
	return fact(t.source, "%s is timed %s, %s before %s, which was written before it: %s. Durations and waits across it, "+
		"and the order of the lines around it, are not to be trusted.", t.what, instant(t.at), long, t.follows, t.why)
}

// turnNotes are a remark for each place where the clock of a record runs backwards; of too many the rest is counted.
func (s *story) turnNotes() []Item {
	var list []Item
	for i, t := range s.turns {
		if i == listRoom {
			list = append(list, fact(t.source, "The clock of a record runs backwards in %s.",
				report.Count(len(s.turns)-i, "more place", "more places")))
			break
		}
		list = append(list, t.item())
	}
	return list
}

// turnsInShort is for those who read no further than the beginning.
func (s *story) turnsInShort() []Item {
	if len(s.turns) == 0 {
		return nil
	}
	return []Item{fact(s.turns[0].source, "The clock of a record runs backwards in %s: the timeline says where. "+
		"Durations in this draft are only as good as these clocks.", report.Count(len(s.turns), "place", "places"))}
}

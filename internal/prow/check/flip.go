package check

import (
	"slices"
	"time"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// FlipWindow is how long what a branch requires may take to change and to come back for it
// to be a flip, and for how long it is told.
const FlipWindow = 24 * time.Hour

func watchedHistory(f *facts) finding.Lack {
	if f.History == nil {
		return notGiven("salve prow watch: one look can't tell that something came back")
	}
	return liveGitHub(f)
}

// flips is B7: what a branch requires changed and came back within a day. Two write there:
// on 5 February 2019 automation put back what had been repaired by hand. It is ALERT: what
// is repaired will not stay.
func flips(f *facts) (finding.List, finding.Lack) {
	unread := &gaps{}
	unread.addAll(f.GitHub.Unread)
	var found finding.List
	for _, b := range f.liveBranches() {
		if failed := f.GitHub.Branches[b].Failed; failed != "" {
			unread.add(b.String(), failed)
		}
		if turn := flipOf(f.History.Changes[b], f.Options.Now); turn != nil {
			found = append(found, f.flip(b, turn))
		}
	}
	lack := unread.lack()
	if f.Options.Now.Sub(f.History.Since) < FlipWindow {
		lack = both(failed("watched since %s: what changed in the day before is not known",
			f.History.Since.UTC().Format(time.RFC3339)), lack)
	}
	return found, lack
}

// flipOf are the changes of the latest way back, from what was there before to what is
// there again; nil where there is none within the window.
func flipOf(changes []Change, now time.Time) []Change {
	for k := len(changes) - 1; k >= 2; k-- {
		if now.Sub(changes[k].At) > FlipWindow {
			return nil
		}
		for i := k - 2; i >= 0; i-- {
			away := changes[i+1].At
			if changes[k].At.Sub(away) > FlipWindow {
				break
			}
			if slices.Equal(changes[i].Contexts, changes[k].Contexts) {
				return changes[i : k+1]
			}
		}
	}
	return nil
}

func (f *facts) flip(b config.Branch, turn []Change) finding.Finding {
	made := finding.Finding{Severity: finding.Alert, Position: f.placeOf(requirement{branch: branch{Branch: b}}),
		Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name},
		Message: "what the branch requires changed and came back within a day: two write there",
		Mend: "find both writers: branchprotector's CronJob and Jobs (B8), people, other programs; the audit log of the " +
			"organization has the names"}
	for _, change := range turn {
		made.Evidence = append(made.Evidence, bounded(change.At.UTC().Format(time.RFC3339)+" required: "+
			orNone(few(change.Contexts))))
	}
	return made
}

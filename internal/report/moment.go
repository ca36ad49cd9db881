package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/journal"
	"salve/runbook"
)

// Moment is one line of a timeline.
type Moment struct {
	At time.Time `json:"at"`
	// After is the time since the run was opened, in seconds.
	After float64 `json:"afterSeconds"`
	// What is a step's name, or "opened", "guards", "plan", "warning", "undo",
	// "checks", "interrupted", "resumed", "parked" or "closed".
	What    string `json:"what"`
	Text    string `json:"text"`
	Attempt int    `json:"attempt,omitempty"`
	// Took is how long an attempt at a step lasted, in seconds.
	Took   float64            `json:"tookSeconds,omitempty"`
	Result journal.ResultKind `json:"result,omitempty"`
	// Irreversible marks an attempt at the step after which nothing is undone.
	Irreversible bool `json:"irreversible,omitempty"`
	// reason is the part of Text that later lines tend to say again.
	reason string
}

// Moments gives the timeline of a run from its journal.
func Moments(history *journal.History) ([]Moment, error) {
	t := &timeline{open: map[string]int{}}
	for _, entry := range history.Entries {
		if t.began.IsZero() {
			t.began = entry.At
		}
		if err := t.take(entry); err != nil {
			return nil, fmt.Errorf("entry %d of the journal, %s: %w", entry.Seq, entry.Kind, err)
		}
	}
	for _, index := range t.open {
		t.moments[index].Text = "begun; what became of it is not in the journal"
	}
	return t.moments, nil
}

// timeline collects moments. open holds the index of a step's attempt that has
// no outcome yet.
type timeline struct {
	began   time.Time
	moments []Moment
	open    map[string]int
}

func (t *timeline) add(entry journal.Entry, what, text string) *Moment {
	t.moments = append(t.moments, Moment{At: entry.At, After: entry.At.Sub(t.began).Seconds(), What: what, Text: text})
	return &t.moments[len(t.moments)-1]
}

// valueRoom is how much of an input is shown: the journal has all of it.
const valueRoom = 40

func (t *timeline) take(entry journal.Entry) error {
	switch entry.Kind {
	case journal.Opened:
		return with(entry, func(header journal.Header) { t.add(entry, "opened", "by "+Person(header.Holder)) })
	case journal.Resumed:
		return with(entry, func(resumption journal.Resumption) { t.add(entry, "resumed", "by "+Person(resumption.Holder)) })
	case journal.Evaluated:
		return with(entry, func(evaluation journal.Evaluation) { t.evaluated(entry, evaluation) })
	case journal.Planned:
		return with(entry, func(plan runbook.Plan) {
			t.add(entry, "plan", fmt.Sprintf("%s, digest %s", Count(len(plan.Steps), "step", "steps"), plan.Short()))
		})
	case journal.Asked, journal.Approved, journal.Denied:
		return t.approval(entry)
	case journal.Intended:
		return with(entry, func(intent journal.Intent) {
			flat, _ := apart(intent.Inputs)
			began := t.add(entry, entry.Step, pairs(flat, valueRoom))
			began.Attempt, began.Irreversible = intent.Attempt, intent.Irreversible
			t.open[entry.Step] = len(t.moments) - 1
		})
	case journal.Outcome:
		return with(entry, func(result journal.Result) { t.ended(entry, result) })
	case journal.Warned:
		return with(entry, func(message journal.Message) { t.add(entry, "warning", message.Text) })
	case journal.Interrupted:
		return with(entry, func(message journal.Message) { t.add(entry, "interrupted", message.Text) })
	case journal.Migrated:
		return with(entry, func(move journal.Destination) { t.add(entry, "moved", "to "+move.Where) })
	case journal.Arrived:
		return with(entry, func(move journal.Destination) { t.add(entry, "arrived", "from "+move.Where) })
	case journal.RollingBack:
		return with(entry, func(verdict journal.Verdict) {
			t.add(entry, "undo", "taking back what was done: "+verdict.Reason).reason = verdict.Reason
		})
	case journal.Parked, journal.Closed:
		return with(entry, func(verdict journal.Verdict) {
			t.add(entry, string(entry.Kind), verdictText(verdict)).reason = verdict.Reason
		})
	default:
		return nil // notes are for the steps, not for people
	}
}

// approval shows what was asked, and who answered from where.
func (t *timeline) approval(entry journal.Entry) error {
	if entry.Kind == journal.Asked {
		return with(entry, func(question journal.Question) {
			t.add(entry, "approval", fmt.Sprintf("%s asked for it", question.Requester))
		})
	}
	if entry.Kind == journal.Denied {
		return with(entry, func(statement journal.Statement) {
			t.add(entry, "denied", fmt.Sprintf("by %s from %s: %s", statement.By, statement.From, statement.Reason))
		})
	}
	return with(entry, func(approval journal.Approval) { t.add(entry, "approved", ApprovedBy(approval.Statement)) })
}

// ApprovedBy says who approved, from where, and within which bounds.
func ApprovedBy(statement journal.Statement) string {
	text := fmt.Sprintf("by %s from %s, for %s", statement.By, statement.From, statement.Lasts())
	for _, name := range slices.Sorted(maps.Keys(statement.Limits)) {
		text += fmt.Sprintf(", %s lowered to %d", name, statement.Limits[name])
	}
	if statement.Reason != "" {
		text += ": " + statement.Reason
	}
	return text
}

// evaluated shows the guards at the start, the checks, and any other evaluation that
// stopped the run or passed over a finding.
func (t *timeline) evaluated(entry journal.Entry, evaluation journal.Evaluation) {
	telling := evaluation.For == "start" || evaluation.For == "checks" || evaluation.Decision.Outcome != ""
	for _, finding := range evaluation.Findings {
		telling = telling || (finding.Override != "" && finding.Answer != runbook.AnswerHolds)
	}
	if !telling {
		return
	}
	what := "guards"
	text := tally(evaluation.Findings)
	if evaluation.For == "checks" {
		what = "checks"
	} else if step, found := strings.CutPrefix(evaluation.For, "step "); found {
		text = "before " + step + ": " + text
	}
	t.add(entry, what, text).reason = evaluation.Decision.Reason
}

// tally counts findings, and names those that do not hold.
func tally(findings []runbook.Finding) string {
	holding := 0
	var others []string
	for _, finding := range findings {
		if finding.Answer == runbook.AnswerHolds {
			holding++
			continue
		}
		other := fmt.Sprintf("%s is %s: %s", finding.Guard, finding.Answer, finding.Reason)
		if finding.Answer == runbook.AnswerDoesNotHold {
			other = fmt.Sprintf("%s does not hold: %s", finding.Guard, finding.Reason)
		}
		if finding.Override != "" {
			other += " (overridden: " + finding.Override + ")"
		}
		others = append(others, other)
	}
	text := fmt.Sprintf("%d of %d hold", holding, len(findings))
	if len(others) == 0 {
		return allHold(holding)
	}
	return text + "; " + strings.Join(others, "; ")
}

// ended completes the line of the attempt that the outcome belongs to. An
// outcome without one was seen in the world: a line of its own.
func (t *timeline) ended(entry journal.Entry, result journal.Result) {
	index, open := t.open[entry.Step]
	delete(t.open, entry.Step)
	line := &Moment{}
	if open {
		line = &t.moments[index]
		line.Took = entry.At.Sub(line.At).Seconds()
	} else {
		line = t.add(entry, entry.Step, "")
	}
	line.Result, line.reason = result.Result, result.Reason
	switch {
	case result.Result == journal.Done && result.Observed:
		line.Text = "already so: " + result.Reason
	case result.Result == journal.Done && result.Reason != "":
		line.Text = strings.TrimPrefix(line.Text+"; "+result.Reason, "; ")
	case result.Result == journal.Done:
	case result.Result == journal.Skipped:
		line.Text = result.Reason
	case result.Result == journal.Unknown:
		line.Text = "not known to be done: " + result.Reason
	case result.Observed:
		line.Text = "looked: " + result.Reason
	default:
		line.Text = "failed: " + result.Reason
	}
}

func verdictText(verdict journal.Verdict) string {
	text := string(verdict.Outcome) + ": " + verdict.Reason
	if verdict.Question != "" {
		text += ". Question: " + verdict.Question
	}
	return text
}

func with[T any](entry journal.Entry, use func(T)) error {
	var data T
	if err := json.Unmarshal(entry.Data, &data); err != nil {
		return err
	}
	use(data)
	return nil
}

// Person writes who is, or was, at work.
func Person(holder journal.Holder) string {
	return fmt.Sprintf("%s@%s (process %d)", holder.User, holder.Host, holder.PID)
}

func allHold(findings int) string {
	if findings == 1 {
		return "the only one holds"
	}
	return fmt.Sprintf("all %d hold", findings)
}

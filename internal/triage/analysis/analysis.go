package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/cause"
	"salve/internal/triage/change"
	"salve/internal/triage/decision"
	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
)

// Request is what to triage.
type Request struct {
	Paths     []string
	Stdin     io.Reader // what "-" stands for
	Baseline  []string  // results of runs without the change, one run each
	Change    *change.Change
	Map       *change.Map
	Catalogue *catalogue.Catalogue // nil: none
	Past      *Recorded            // nil: there is no history
	Build     string
	ChangedAt time.Time // when the change was built or deployed; zero: not known
	Now       time.Time
	// Thresholds are [triage.Default] where nothing else is wanted.
	Thresholds triage.Thresholds
}

// ErrNothing says that the paths hold no results.
var ErrNothing = errors.New("no results were found")

// Result is the document, and the run that it is about.
type Result struct {
	Document *triage.Document
	// Evidence is what the verdicts rest on, Examined what was counted in its scenarios, and Decision what was decided.
	Evidence decision.Evidence
	Examined *decision.Examined
	Decision decision.Decision
	// Thresholds are those that it was decided with.
	Thresholds triage.Thresholds
	Run        *scenario.Run
	// Shown are the signatures of each scenario that its last attempt shows.
	Shown [][]catalogue.Hit
	// Attributes are those of each scenario.
	Attributes [][]results.Attribute
}

// Analyze does it. What can't be read of the inputs stands in the document; an error is that nothing could be.
func Analyze(ctx context.Context, r Request) (*Result, error) {
	if r.Catalogue == nil {
		r.Catalogue = catalogue.Empty()
	}
	run, problems, err := r.read(ctx, r.Paths...)
	if err != nil {
		return nil, err
	}
	if len(run.Scenarios) == 0 {
		if len(problems) > 0 {
			return nil, fmt.Errorf("%w: %s", ErrNothing, problems[0])
		}
		return nil, ErrNothing
	}
	a := &analysis{Request: r, run: run}
	if err := a.readBaseline(ctx); err != nil {
		return nil, err
	}
	if len(run.Scenarios) > 0 && a.Build == "" {
		a.Build = nameless(run)
	}
	a.inspect()
	a.reach()
	result, err := a.result()
	if err != nil {
		return nil, err
	}
	result.Document.Problems = append(problems, result.Document.Problems...)
	return result, nil
}

// result observes, asks, decides, and puts the document together. What is decided from is read back first: nothing
// else can have a part in it.
func (a *analysis) result() (*Result, error) {
	r := &Result{Thresholds: a.Thresholds, Run: a.run, Shown: a.shown, Attributes: a.attributes}
	a.rows = a.run.Rows(func(row int) []results.Attribute { return a.attributes[row] })
	a.masked = maskedRows(a.rows)
	var err error
	if r.Evidence.Observed, _, err = decision.ReadBack(a.observe()); err != nil {
		return nil, err
	}
	if r.Examined, err = decision.Examine(r.Evidence.Observed, a.Thresholds); err != nil {
		return nil, err
	}
	a.unite(r.Examined)
	if a.Past != nil {
		a.Past.identity.Build = a.Build
		if err := a.Past.include(a.entry(a.Past.identity, r)); err != nil {
			return nil, err
		}
	}
	if r.Evidence.Past, _, err = decision.ReadBack(a.ask(r.Evidence.Observed, r.Examined)); err != nil {
		return nil, err
	}
	r.Decision = decision.DecideExamined(r.Evidence, r.Examined, a.Thresholds)
	if r.Decision.Lacks != "" {
		return nil, fmt.Errorf("the evidence does not have %s", r.Decision.Lacks)
	}
	r.Document = a.document(&r.Decision, r.Examined)
	return r, nil
}

// read makes a run of some paths.
func (r Request) read(ctx context.Context, paths ...string) (*scenario.Run, []string, error) {
	var collector scenario.Collector
	var problems, notes []string
	reader := results.Reader{Stdin: r.Stdin, Observer: r.Catalogue.Observer(), Note: func(n results.Note) {
		notes = append(notes, n.Place.String()+": "+n.Text)
	}}
	for one, err := range reader.Cases(ctx, paths...) {
		if err != nil {
			problems = append(problems, err.Error())
			collector.Break(err)
			continue
		}
		collector.Add(one)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("reading results: %w", err)
	}
	run := collector.Finish()
	run.Notes = append(run.Notes, notes...)
	return run, problems, nil
}

// analysis is one triage under way.
type analysis struct {
	Request
	run        *scenario.Run
	rows       *cause.Rows
	masked     *cause.Rows // the same, its names and values without credentials
	attributes [][]results.Attribute
	shown      [][]catalogue.Hit
	loose      []catalogue.Hit
	without    []*scenario.Run // of the baseline; nil for one that could not be read
	touched    []change.Component
	unmapped   []string
	reached    []change.Reach
	problems   []string
}

// document puts it together.
func (a *analysis) document(decided *decision.Decision, examined *decision.Examined) *triage.Document {
	d := &triage.Document{
		Format: triage.Format, Build: a.Build, Created: a.Now.UTC(), Counts: a.run.Counts,
		Verdict: decided.Verdict, Mixed: decided.Mixed, Confidence: decided.Confidence, Summary: decided.Summary,
		Aborted: decided.Aborted, Change: a.change(), Groups: []triage.Group{},
		Notes: a.run.Notes, Problems: a.problems, Thresholds: a.Thresholds.List(),
	}
	number := map[int]int{} // of a group, by the way that names it
	for i, g := range examined.Groups {
		number[g.Ways[0]] = i
	}
	place := make([]int, len(examined.Groups))
	for to := range decided.Groups {
		from := number[decided.Groups[to].Ways[0]]
		place[from] = to
		if to < maxGroups {
			d.Groups = append(d.Groups, a.group(&a.run.Groups[from], &decided.Groups[to]))
		}
	}
	a.omit(d, place)
	d.Heat, d.Timeline = a.heat(place, len(d.Groups)), a.timeline(place, len(d.Groups))
	d.Digest = a.digest(d)
	return d
}

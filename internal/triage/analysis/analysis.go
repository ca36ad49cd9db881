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
	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
	"salve/internal/triage/verdict"
)

// Request is what to triage.
type Request struct {
	Paths     []string
	Stdin     io.Reader // what "-" stands for
	Baseline  []string  // results of runs without the change, one run each
	Change    *change.Change
	Map       *change.Map
	Catalogue *catalogue.Catalogue // nil: none
	Past      Past
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
	Run      *scenario.Run
	Rows     *cause.Rows
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
	a.unite()
	a.rows = run.Rows(func(row int) []results.Attribute { return a.attributes[row] })
	if a.found, err = cause.Find(a.rows, r.Thresholds); err != nil {
		return nil, fmt.Errorf("looking for causes: %w", err)
	}
	a.reach()
	if recorded, ok := r.Past.(*Recorded); ok {
		recorded.identity.Build = a.Build
		if err := recorded.include(a.entry(recorded.identity)); err != nil {
			return nil, err
		}
	}
	document, err := a.document()
	if err != nil {
		return nil, err
	}
	document.Problems = append(problems, document.Problems...)
	return &Result{Document: document, Run: run, Rows: a.rows, Shown: a.shown, Attributes: a.attributes}, nil
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
	run := collector.Finish(r.Thresholds)
	run.Notes = append(run.Notes, notes...)
	return run, problems, nil
}

// analysis is one triage under way.
type analysis struct {
	Request
	run        *scenario.Run
	rows       *cause.Rows
	found      []cause.Found
	attributes [][]results.Attribute
	shown      [][]catalogue.Hit
	loose      []catalogue.Hit
	without    []*scenario.Run // of the baseline
	touched    []change.Component
	unmapped   []string
	reached    []change.Reach
	problems   []string
}

// document puts it together.
func (a *analysis) document() (*triage.Document, error) {
	d := &triage.Document{
		Format: triage.Format, Build: a.Build, Created: a.Now.UTC(), Counts: a.run.Counts,
		Aborted: a.aborted(), Change: a.change(), Groups: []triage.Group{},
		Notes: a.run.Notes, Thresholds: a.Thresholds.List(),
	}
	for i := range a.run.Groups {
		group, err := a.group(i)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", a.run.Groups[i].Key, err)
		}
		d.Groups = append(d.Groups, group)
	}
	a.order(d)
	d.Verdict, d.Mixed = verdict.Overall(d.Groups, d.Aborted != nil)
	d.Confidence = overallConfidence(d)
	d.Summary = summary(d)
	d.Problems = a.problems
	d.Digest = a.digest(d)
	return d, nil
}

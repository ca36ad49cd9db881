package postmortem

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"salve/journal"
)

// chartRoom is how many spans, requests and readings each a chart lists.
const chartRoom = 600

// bounded is the chart with as many marks as fit; those that are left out are counted. What went wrong and what lasted
// goes before what did not.
func (s *story) bounded() Chart {
	c := Chart{Spans: slices.Clone(s.chart.Spans), Requests: slices.Clone(s.chart.Requests),
		Readiness: slices.Clone(s.chart.Readiness)}
	c.Spans = slices.DeleteFunc(c.Spans, func(x Span) bool {
		return !s.options.within(x.Began) && !s.options.within(x.Ended)
	})
	c.Readiness = slices.DeleteFunc(c.Readiness, func(x Readiness) bool { return !s.options.within(x.At) })
	slices.SortStableFunc(c.Readiness, func(x, y Readiness) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Pool, y.Pool))
	})
	total := len(c.Spans) + len(c.Requests) + len(c.Readiness)
	c.Spans = foremost(c.Spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(x.weight(), y.weight()), cmp.Compare(y.Took(), x.Took()))
	})
	if len(c.Requests) > chartRoom {
		c.Requests = together(c.Requests)
		total -= len(s.chart.Requests) - len(c.Requests) // these are counted, and not left out
	}
	c.Requests = foremost(c.Requests, func(x, y Operation) int { return cmp.Compare(x.weight(), y.weight()) })
	if len(c.Readiness) > chartRoom {
		c.Readiness = changesOf(c.Readiness)
	}
	c.Readiness = c.Readiness[:min(len(c.Readiness), chartRoom)]
	c.Omitted = total - len(c.Spans) - len(c.Requests) - len(c.Readiness)
	return c
}

// foremost are those that come first by an order, as many as fit, in the order that they have.
func foremost[T any](all []T, order func(x, y T) int) []T {
	if len(all) <= chartRoom {
		return all
	}
	places := make([]int, len(all))
	for i := range all {
		places[i] = i
	}
	slices.SortStableFunc(places, func(x, y int) int { return order(all[x], all[y]) })
	places = places[:chartRoom]
	slices.Sort(places)
	kept := make([]T, 0, chartRoom)
	for _, i := range places {
		kept = append(kept, all[i])
	}
	return kept
}

// weight orders spans: those that a reader looks for have the smaller one.
func (s Span) weight() int {
	switch {
	case s.Irreversible, s.Open, s.Kind == Person:
		return 0
	case s.Result == journal.Failure, s.Result == journal.Unknown, s.OverBudget():
		return 1
	default:
		return 2
	}
}

// Refused tells whether a request was not answered, or with an error.
func (o Operation) Refused() bool { return o.Status == 0 || o.Status >= http.StatusBadRequest }

func (o Operation) weight() int {
	if o.Refused() {
		return 0
	}
	return 1
}

// together are requests with those that one entry of a journal has, and that were answered alike, as one.
func together(all []Operation) []Operation {
	type alike struct {
		source        Source
		step          string
		attempt       int
		method, class string
		status        int
	}
	at := map[alike]int{}
	var merged []Operation
	for _, o := range all {
		key := alike{o.Source, o.Step, o.Attempt, o.Method, o.Class, o.Status}
		i, seen := at[key]
		if !seen {
			at[key] = len(merged)
			merged = append(merged, o)
			continue
		}
		merged[i].Count += o.Count
		merged[i].Path = shared(merged[i].Path, o.Path)
	}
	return merged
}

// shared is the beginning that two paths have in common, up to a slash.
func shared(a, b string) string {
	if a == b {
		return a
	}
	a = strings.TrimSuffix(a, "…")
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:strings.LastIndexByte(a[:n], '/')+1] + "…"
}

// changesOf are the readings that differ from the one before or the one after them of the same pool.
func changesOf(all []Readiness) []Readiness {
	type pool struct{ run, name string }
	same := func(x, y Readiness) bool { return x.Ready == y.Ready && x.Nodes == y.Nodes && x.Gone == y.Gone }
	kept := make([]bool, len(all))
	before := map[pool]int{}
	for i, one := range all {
		key := pool{one.Run, one.Pool}
		last, seen := before[key]
		if !seen || !same(all[last], one) {
			kept[i] = true
			if seen {
				kept[last] = true
			}
		}
		before[key] = i
	}
	for _, last := range before {
		kept[last] = true
	}
	var changes []Readiness
	for i, one := range all {
		if kept[i] {
			changes = append(changes, one)
		}
	}
	return changes
}

package decision

import (
	"cmp"
	"slices"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/verdict"
)

// unite puts ways together whose failure texts one signature knows: what only a name tells apart, such as that of a
// pod, is one failure. A signature that other files show says something of the scenarios, and not that they failed so.
// The groups are lists of positions of ways; the largest one is the first.
func unite(o Observed, t triage.Thresholds) [][]int {
	into := map[string]int{} // the group of a signature
	var groups [][]int
	for i := range o.Ways {
		alone := o.together([]int{i})
		decisive := o.decisive(alone, t)
		if decisive == nil || !alone.inText(decisive.ID, t) {
			groups = append(groups, []int{i})
			continue
		}
		at, known := into[decisive.ID]
		if !known {
			into[decisive.ID] = len(groups)
			groups = append(groups, []int{i})
			continue
		}
		groups[at] = append(groups[at], i)
	}
	slices.SortStableFunc(groups, func(x, y []int) int { return cmp.Compare(o.failures(y), o.failures(x)) })
	return groups
}

func (o Observed) failures(ways []int) int {
	sum := 0
	for _, i := range ways {
		sum += o.Ways[i].Failures
	}
	return sum
}

// together is what ways have in sum.
type together struct {
	first                                            *Way // which names them
	failures, finished, recovered, insisted, touched int
	touchedAt                                        string
	began                                            time.Time
	producers                                        []string
	signatures                                       []triage.Signature // the one of most failures first
	texts                                            map[string]int     // failures by a signature in their own texts
}

func (o Observed) together(ways []int) together {
	sum := together{first: &o.Ways[ways[0]], failures: o.failures(ways), texts: map[string]int{}}
	shown := map[int]int{}
	for _, i := range ways {
		way := &o.Ways[i]
		sum.finished += way.Finished
		sum.recovered += way.Recovered
		sum.insisted = max(sum.insisted, way.Insisted)
		sum.touched += way.Touched
		if sum.touchedAt == "" {
			sum.touchedAt = way.TouchedAt
		}
		if way.First != nil && (sum.began.IsZero() || way.First.Before(sum.began)) {
			sum.began = *way.First
		}
		sum.producers = union(sum.producers, way.Producers)
		for _, s := range way.Shows {
			shown[s.Signature] += s.Failures
			sum.texts[o.Signatures[s.Signature].ID] += s.InText
		}
	}
	for i, failures := range shown {
		if failures > 0 {
			sum.signatures = append(sum.signatures, o.Signatures[i].shown(failures))
		}
	}
	slices.SortFunc(sum.signatures, func(x, y triage.Signature) int {
		return cmp.Or(cmp.Compare(y.Failures, x.Failures), cmp.Compare(x.ID, y.ID))
	})
	for _, s := range o.Signatures {
		shown := func(has triage.Signature) bool { return has.ID == s.ID }
		if len(s.Producers) > 0 && slices.ContainsFunc(sum.signatures, shown) {
			sum.producers = union(sum.producers, s.Producers)
		}
	}
	return sum
}

// Shown are the signatures that ways show in sum, the one of most failures first.
func (o Observed) Shown(ways []int) []triage.Signature { return o.together(ways).signatures }

func union(list, more []string) []string {
	list = slices.Clone(list)
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func (s Signature) shown(failures int) triage.Signature {
	return triage.Signature{
		ID: s.ID, Title: s.Title, Class: s.Class, Owner: s.Owner, Links: s.Links, Action: s.Action,
		ValidUntil: s.ValidUntil, Expired: s.Expired, Failures: failures, Passing: s.Passing,
	}
}

// decisive is the signature on which a verdict may rest; nil for none.
func (o Observed) decisive(of together, t triage.Thresholds) *triage.Signature {
	return verdict.Decisive(of.signatures, of.failures, o.Counts.Passed, t)
}

// inText says whether nearly all failures show a signature in their own texts.
func (g together) inText(id string, t triage.Thresholds) bool {
	return float64(g.texts[id]) >= t.KnownCoverage*float64(g.failures)
}

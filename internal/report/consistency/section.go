package consistency

import (
	"strings"

	"salve/internal/lazyregexp"
)

// kind is what a section of a post-mortem is about.
type kind string

const (
	other      kind = ""
	summary    kind = "summary"
	impact     kind = "impact"
	cause      kind = "root cause"
	detection  kind = "detection"
	resolution kind = "resolution"
	lessons    kind = "lessons"
	well       kind = "went well"
	poorly     kind = "went poorly"
	lucky      kind = "got lucky"
	actions    kind = "action items"
	events     kind = "timeline"
	appendix   kind = "appendix"
)

// section is a heading and what stands under it, up to the next heading of its level or above.
type section struct {
	kind  kind
	level int
	// heading is nil for what stands before the first.
	heading *block
}

// synonyms are how templates and teams call their sections, normalized as by normalHeading.
var synonyms = map[kind][]string{ //nolint:gochecknoglobals // a table
	summary: {"summary", "overview", "executive summary", "tldr", "tl dr", "abstract", "synopsis", "what happened",
		"incident overview", "high level summary"},
	impact: {"impact", "customer impact", "user impact", "business impact", "scope", "blast radius", "effect", "effects"},
	cause: {"root cause", "root causes", "root cause analysis", "cause", "causes", "trigger", "contributing factors",
		"contributing factor", "five whys", "5 whys", "background", "fault"},
	detection: {"detection", "how was it detected", "discovery", "alerting"},
	resolution: {"resolution", "recovery", "mitigation", "response", "how was it fixed", "resolution and recovery",
		"incident response", "remediation"},
	lessons: {"lessons learned", "lessons learnt", "lessons", "retrospective", "learnings", "post mortem retrospective"},
	well: {"what went well", "things that went well", "went well", "what worked", "what worked " +
		"well", "the good", "positives",
		"what we did well"},
	poorly: {"what went poorly", "what went wrong", "what went badly", "what didnt go well", "what did not go well",
		"what didnt go so well", "what did not go so well", "things that went poorly", "things that went badly",
		"things that went wrong", "went poorly", "went badly", "went wrong", "what could have gone better",
		"what could be improved", "what can be improved", "what can we do better", "what could we have done better",
		"what went less well", "what didnt work", "what did not work", "areas for improvement", "the bad", "negatives",
		"room for improvement", "what to improve", "pain points"},
	lucky: {"where we got lucky", "got lucky", "where were we lucky", "where we were lucky", "luck"},
	actions: {"action items", "action item", "actions", "follow up", "follow ups", "follow up items", "follow up actions",
		"followup", "followups", "next steps", "corrective actions", "preventive actions", "preventative actions",
		"corrective and preventive measures", "corrective and preventative measures", "corrective measures",
		"remediation items", "remediation actions", "action plan", "tasks", "improvements", "prevention",
		"preventive measures"},
	events: {"timeline", "time line", "incident timeline", "event timeline", "outage timeline", "chronology",
		"sequence of events", "order of events", "incident log"},
	appendix: {"appendix", "appendices", "chat log", "chat logs", "chat transcript", "chat", "slack log", "slack logs",
		"slack transcript", "irc log", "transcript", "raw logs", "attachments", "supporting information", "supporting data"},
}

// exactKinds maps each synonym to its kind.
var exactKinds = func() map[string]kind { //nolint:gochecknoglobals // a table
	exact := map[string]kind{}
	for k, names := range synonyms {
		for _, name := range names {
			exact[name] = k
		}
	}
	return exact
}()

var (
	parenthesized = lazyregexp.New(`\([^()]*\)|\[[^\[\]]*\]`)
	notLetters    = lazyregexp.New(`[^a-z0-9]+`)
	numbering     = lazyregexp.New(`^(\d+ )+`)
)

func normalHeading(text string) string {
	text = strings.NewReplacer("'", "", "’", "", "&amp;", " and ", "&", " and ").Replace(strings.ToLower(text))
	text = notLetters.ReplaceAllString(parenthesized.ReplaceAllString(text, " "), " ")
	text = strings.TrimSpace(text)
	if _, known := exactKinds[text]; known {
		return text
	}
	return strings.TrimSpace(numbering.ReplaceAllString(text, ""))
}

// kindOfHeading classifies a heading: by its words, by the words it begins or ends with, or misspelt.
func kindOfHeading(text string) kind {
	name := normalHeading(text)
	if k, known := exactKinds[name]; known {
		return k
	}
	if len(name) == 0 || len(name) > 60 {
		return other
	}
	best, length := other, 0
	for synonym, k := range exactKinds {
		part := strings.HasPrefix(name, synonym+" ") || strings.HasSuffix(name, " "+synonym)
		// Of two that fit, the longer one says more; of two alike, the order must not depend on the map.
		if part && len(synonym) > 3 && (len(synonym) > length || len(synonym) == length && k < best) {
			best, length = k, len(synonym)
		}
	}
	if best != other {
		return best
	}
	return misspelt(name)
}

func misspelt(name string) kind {
	best, least := other, 3
	for synonym, k := range exactKinds {
		allowed := 0
		switch {
		case len(synonym) >= 10:
			allowed = 2
		case len(synonym) >= 6:
			allowed = 1
		}
		distance := editDistance(name, synonym)
		if distance <= allowed && (distance < least || distance == least && k < best) {
			best, least = k, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours that turn a into b.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

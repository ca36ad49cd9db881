package consistency

import (
	"strconv"
	"strings"

	"salve/internal/lazyregexp"
)

// count is how many of something a sentence says there are.
type count struct {
	number   int
	noun     string
	states   map[string]bool
	line     int
	sentence int
	list     int
	timeline bool
	loose    bool
	scope    string
	text     string
	words    map[string]bool
}

var (
	countText = lazyregexp.New(`(?i)(\b(?:at least|over|more than|about|around|approximately|roughly|nearly|` +
		`almost|up to|some|another|other|additional|further|first|last|every|per|of|to|from|than|remaining|only|another|` +
		`version|error|status|http|port|line)\s+|[#vV$€£~.:/-])?\b(\d{1,3}(?:,\d{3})+|\d{1,9})\b` +
		`((?:\s+[a-z][a-z-]*){1,4})`)
	vague = lazyregexp.New(`(?i)^(?:at least|over|more than|about|around|approximately|roughly|nearly|almost|` +
		`up to|some)`)
	snapshot = lazyregexp.New(`(?i)\b(?:so far|already|at this point|initially|another|more|scal\w+|increas\w+|` +
		`grew|grow\w*|total of|remaining|of which|still)\b`)
	scopeText = lazyregexp.New(`(?i)^\s*(?:in|on|from|across|at|of|for|via)\s+(?:the\s+)?([\w.-]+(?:\s[\w.-]+)?)`)
	// units are what is no thing that is counted.
	units = setOf("seconds minutes hours days weeks months years " + //nolint:gochecknoglobals // a table
		"mins secs hrs times retries attempts steps prs " +
		"responses errors percent things reasons changes was is has does this replicas cores lines status less")
	// states maps words of the same meaning to one.
	states = meanings( //nolint:gochecknoglobals // a table
		"pending unschedulable stuck hung waiting unscheduled start starting",
		"failed failing fail errored broken failures", "affected impacted", "stale stray spurious orphaned leaked",
		"lost dropped missing", "deleted removed cleaned cleanup", "rejected refused denied",
		"restarted rerun retriggered", "unavailable down unreachable offline", "created", "evicted drained",
		"crashed crashing crashlooping", "timed")
)

// meanings maps each word of a class to the first one.
func meanings(classes ...string) map[string]string {
	meaning := map[string]string{}
	for _, class := range classes {
		words := strings.Fields(class)
		for _, word := range words {
			meaning[word] = words[0]
		}
	}
	return meaning
}

// counts reads all counts of a document.
func counts(d *document) []count {
	var all []count
	number := 0
	for _, b := range d.claiming() {
		if d.kind(b) == actions || b.shape == heading {
			continue
		}
		parts, starts := sentences(b.claims)
		for i, sentence := range parts {
			number++
			for _, at := range countText.FindAllStringSubmatchIndex(sentence, -1) {
				if c, ok := readCount(sentence, at); ok {
					c.line, c.sentence, c.timeline = b.lineAt(starts[i]+at[4]), number, d.kind(b) == events
					if b.shape == item || b.shape == row {
						c.list = b.list
					}
					all = append(all, c)
				}
			}
		}
	}
	return all
}

func readCount(sentence string, at []int) (count, bool) {
	before := ""
	if at[2] >= 0 {
		before = sentence[at[2]:at[3]]
	}
	if before != "" && !vague.MatchString(before) {
		return count{}, false
	}
	value, err := strconv.Atoi(strings.ReplaceAll(sentence[at[4]:at[5]], ",", ""))
	if err != nil || value < 2 {
		return count{}, false
	}
	c := count{number: value, loose: before != "", states: map[string]bool{}, words: map[string]bool{}}
	words := strings.Fields(strings.ToLower(sentence[at[6]:at[7]]))
	for i, word := range words {
		if units[word] {
			return count{}, false
		}
		if strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && len(word) > 3 || word == "people" {
			c.noun = word
			c.text = sentence[at[4]:at[5]] + " " + strings.Join(words[:i+1], " ")
			break
		}
		if stop[word] || word == "and" || word == "or" || word == "the" || word == "of" {
			return count{}, false
		}
	}
	if c.noun == "" || snapshot.MatchString(sentence) {
		return count{}, false
	}
	head := at[6] + strings.Index(strings.ToLower(sentence[at[6]:]), c.noun) + len(c.noun)
	if in := scopeText.FindStringSubmatch(sentence[min(head, len(sentence)):]); in != nil {
		c.scope = strings.ToLower(in[1])
	}
	near := strings.ToLower(sentence[max(0, at[4]-40):min(len(sentence), head+50)])
	for word := range strings.FieldsFuncSeq(near, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if state, known := states[word]; known {
			c.states[state] = true
		}
	}
	for _, word := range significant(sentence) {
		c.words[word] = true
	}
	return c, true
}

// checkCounts finds the same thing counted differently in two places.
func checkCounts(d *document) []Finding {
	all := counts(d)
	all = all[:min(len(all), maxClaims)]
	var found []Finding
	seen := map[string]bool{}
	for i, a := range all {
		for _, b := range all[i+1:] {
			key := strconv.Itoa(a.number) + " " + strconv.Itoa(b.number) + " " + a.noun
			if !a.contradicts(b) || seen[key] || confirmed(all, a, b) {
				continue
			}
			seen[key] = true
			found = append(found, d.finding(CountContradictsCount, []int{a.line, b.line}, "%s in one place, %s in another",
				a.text, b.text))
		}
	}
	return found
}

// confirmed: one place that says both numbers tells them apart.
func confirmed(all []count, a, b count) bool {
	for _, c := range all {
		if c.noun == a.noun && c.number == a.number && c.timeline == b.timeline && c.sentence != a.sentence {
			return b.timeline
		}
	}
	return false
}

func (c count) contradicts(other count) bool {
	if c.noun != other.noun || c.number == other.number || c.sentence == other.sentence ||
		c.timeline && other.timeline || c.list != 0 && c.list == other.list {
		return false
	}
	if c.scope != other.scope && c.scope != "" && other.scope != "" {
		return false
	}
	if c.loose || other.loose {
		if low, high := min(c.number, other.number), max(c.number, other.number); high < 2*low {
			return false
		}
	}
	// While it goes on there are fewer than in the end: then only the same observation contradicts.
	if (c.timeline && c.number < other.number || other.timeline && other.number < c.number) && c.shared(other) < 3 {
		return false
	}
	for state := range c.states {
		if other.states[state] {
			return true
		}
	}
	return false
}

// shared counts the words that both sentences have.
func (c count) shared(other count) int {
	shared := 0
	for word := range c.words {
		if other.words[word] {
			shared++
		}
	}
	return shared
}

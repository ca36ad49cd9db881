package consistency

import (
	"strings"

	"salve/internal/lazyregexp"
)

var (
	nothing = lazyregexp.New(`(?i)^\W*(?:none|n/?a|nothing|nil)?\W*$|^\W*(?:none|nothing) (?:yet|so far|to ` +
		`report|identified)\W*$`)
	mention   = lazyregexp.New(`(?:^|[\s(\[,/])@[\w-]+`)
	everybody = lazyregexp.New(`(?i)@(?:here|channel|everyone|everybody|all|room|anyone|someone|somebody|nobody|tbd|` +
		`todo|owner|name|assignee)$`)
	ownerText = lazyregexp.New(`(?i)\b(?:owners?|assignees?|assigned to|dri|responsible|` +
		`lead)\b\s*[:=–-]?\s*([^\s,;.)]+)`)
	named    = lazyregexp.New(`\(([^()]{2,40})\)`)
	nameOnly = lazyregexp.New(`^(?:[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,3}|[a-z][a-z0-9_-]{2,20}|[A-Z]\w* (?i:team))$`)
	leadName = lazyregexp.New(`^\[?[A-Z][\w'-]+(?: [A-Z][\w'-]+)?\]?(?:: | to | will )`)
	lastName = lazyregexp.New(`[–—-] ?[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2}\.?$`)
	noName   = lazyregexp.New(`(?i)^(?:tbd|tba|todo|none|unassigned|n/?a|nobody|unknown|optional|done|open|` +
		`closed|p\d|sev ?\d|high|medium|` +
		`low|critical|prevent|mitigate|detect|process|repair|short|long|short term|long term|wip|in progress|new|later|` +
		`\?+|-+|q[1-4].*|stretch|urgent)$`)
	notNames = lazyregexp.New(`^\[?(?i:we|this|that|it|they|action|todo|note|need|needs|add|plan|priority|` +
		`someone|everyone|fix|update|investigate)\b`)
	ownerColumn = lazyregexp.New(`(?i)owner|assignee|dri|who|responsible|lead|bug|ticket|issue|link|tracking|` +
		`\bpr\b|jira`)
	modal        = lazyregexp.New(`(?i)\b(?:should|need to|must|will|have to|ought to)\b`)
	tracked      = lazyregexp.New(`(?i)\b(?:action|follow-?up|tracked|ticket|issue)\b`)
	sectionOwner = lazyregexp.New(`(?i)\bowners?\s*:\s*\S`)
)

// checkActions finds lists of what went poorly that lead to nothing, and actions that nobody has taken on.
func checkActions(d *document, strict bool) []Finding {
	complaints, items := itemsOf(d, poorly), itemsOf(d, actions)
	var found []Finding
	if len(complaints) > 0 && len(items) == 0 && !anyTracked(complaints) {
		lines := []int{complaints[0].line}
		message := "something went poorly, and there are no action items"
		if h := d.headingOf(actions); h != nil {
			lines, message = append(lines, h.line), "something went poorly, and the list of action items is empty"
		}
		found = append(found, d.finding(PoorlyWithoutAction, lines, "%s", message))
	}
	for _, b := range items[:min(len(items), maxFindings)] {
		if !owned(d, b) {
			found = append(found, d.finding(ActionWithoutOwnerOrLink, []int{b.line}, "action item without an owner and "+
				"without a link"))
		}
	}
	if strict && len(items) > 0 {
		found = append(found, unanswered(d, complaints, items)...)
	}
	return found
}

func anyTracked(blocks []*block) bool {
	for _, b := range blocks {
		if b.linked && tracked.MatchString(b.text) {
			return true
		}
	}
	return false
}

// itemsOf are the items, rows or, without those, paragraphs of a section; nested ones belong to the item above.
func itemsOf(d *document, k kind) []*block {
	var items, paragraphs []*block
	listed := false
	for _, b := range d.of(k) {
		listed = listed || b.shape == item || b.shape == row
		if strings.TrimSpace(b.claims) == "" || nothing.MatchString(b.text) {
			continue
		}
		switch {
		case (b.shape == item || b.shape == row) && b.parent == nil:
			items = append(items, b)
		case b.shape == paragraph && !strings.HasSuffix(strings.TrimSpace(b.text), ":"):
			paragraphs = append(paragraphs, b)
		}
	}
	if listed || k == actions && len(items) > 0 {
		return items
	}
	return paragraphs
}

func owned(d *document, b *block) bool {
	if b.shape == paragraph && !modal.MatchString(b.text) {
		return true
	}
	for i, cell := range b.cells {
		if i < len(b.columns) && ownerColumn.MatchString(b.columns[i]) && !nothing.MatchString(cell) &&
			!noName.MatchString(strings.TrimSpace(cell)) {
			return true
		}
	}
	if hasOwner(b) {
		return true
	}
	for _, below := range d.blocks {
		for up := below.parent; up != nil; up = up.parent {
			if up == b && hasOwner(below) {
				return true
			}
		}
		if below.section == b.section && below.shape == paragraph && below != b && sectionOwner.MatchString(below.text) {
			return true
		}
	}
	h := d.sections[b.section].heading
	return h != nil && (mentioned(h.text) || sectionOwner.MatchString(h.text))
}

// mentioned tells whether a text mentions somebody: a group that is everybody has taken nothing on.
func mentioned(text string) bool {
	for _, name := range mention.FindAllString(text, -1) {
		if !everybody.MatchString(name) {
			return true
		}
	}
	return false
}

func hasOwner(b *block) bool {
	text := strings.TrimSpace(b.text)
	if b.linked || mentioned(text) || lastName.MatchString(text) {
		return true
	}
	if leadName.MatchString(text) && !notNames.MatchString(text) {
		return true
	}
	for _, at := range ownerText.FindAllStringSubmatch(text, -1) {
		if !noName.MatchString(at[1]) {
			return true
		}
	}
	for _, at := range named.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(at[1]); nameOnly.MatchString(name) && !noName.MatchString(name) {
			return true
		}
	}
	return false
}

// unanswered are the lines of what went poorly that share no word that says something with any action item.
func unanswered(d *document, complaints, items []*block) []Finding {
	taken := map[string]bool{}
	for _, b := range items {
		for _, word := range significant(b.text) {
			taken[word] = true
		}
	}
	var found []Finding
	for _, b := range complaints {
		words := significant(b.text)
		answered := len(words) == 0
		for _, word := range words {
			answered = answered || taken[word]
		}
		if !answered {
			found = append(found, d.finding(PoorlyWithoutAction, []int{b.line, items[0].line},
				"no action item shares a word with this line"))
		}
	}
	return found
}

var (
	wordText = lazyregexp.New(`[a-z][a-z-]{3,}`)
	// stop are words that say nothing by themselves.
	stop = setOf("this that with from have were been which when " + //nolint:gochecknoglobals // a table
		"there their they will would should could into than " +
		"then also some more most very need needs because after before during while about only just make made does did")
)

// setOf is a set of words.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// significant are the words of a text that say something, cut to their stem.
func significant(text string) []string {
	var words []string
	for _, word := range wordText.FindAllString(strings.ToLower(text), -1) {
		if !stop[word] {
			words = append(words, word[:min(len(word), 6)])
		}
	}
	return words
}

var (
	placeholder = lazyregexp.New(`(?m)(?:^|[:>(\[|])[ \t]*(?:TODO|FIXME|XXX)\b|\b(?:TODO|FIXME|XXX)[:(]|\b(?:TBD|` +
		`TBA)\b|` +
		`\[(?i:insert|fill in|add) [^\]]{2,60}\]|\{\{[^{}\n]{1,60}\}\}|\bYYYY-MM-DD\b|\bHH:MM\b|\?\?\?`)
	question = lazyregexp.New(`(?i)^\s*(?:>\s*)?\*\*Question:?\*\*`)
	answer   = lazyregexp.New(`(?i)\*\*Answer:?\*\*:?[ \t]*\S`)
)

// checkPlaceholders finds what the author meant to fill in.
func checkPlaceholders(d *document) []Finding {
	var found []Finding
	for _, b := range d.blocks {
		switch {
		case b.shape == quote && question.MatchString(b.raw) && !answer.MatchString(b.raw):
			found = append(found, d.finding(PlaceholderLeft, []int{b.line}, "a marked question has no answer"))
		case b.shape == quote:
		default:
			text := b.claims
			if b.shape == comment {
				text = b.raw
			} else if b.shape == row {
				text = strings.Join(b.cells, " |")
			}
			if at := placeholder.FindStringIndex(text); at != nil {
				line := b.line + strings.Count(text[:at[0]], "\n")
				found = append(found, d.finding(PlaceholderLeft, []int{line}, "a placeholder is left: %s",
					strings.Trim(text[at[0]:at[1]], " \t\n:>(|")))
			}
		}
	}
	return found
}

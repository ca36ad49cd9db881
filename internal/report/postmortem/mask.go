package postmortem

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"salve/internal/redact"
	"salve/journal"
)

// Mask replaces what names people, machines and objects by pseudonyms, in all texts of a draft. A pseudonym is an HMAC
// of the value: the same value has the same one, wherever it stands, and who lacks the key can't try out names. What
// the report is about keeps its name: runbooks, guards, steps, rules, and the runs, which only a journal can resolve.
func Mask(d Draft, sources Sources, key []byte) Draft {
	m := newMask(sources, key)
	raw := reflect.New(reflect.TypeOf(d)).Elem()
	raw.Set(reflect.ValueOf(d))
	masked := m.value(raw).Interface().(Draft) //nolint:forcetypeassert // a copy has the type of what is copied
	masked.Redacted = true
	return masked
}

// mask knows the names of the sources.
type mask struct {
	key []byte
	// names are the pseudonyms' kinds, by name in lower case; byWord lists the names that begin with a word, long ones
	// first.
	names  map[string]string
	byWord map[string][]string
	// plain are words that are nobody's.
	plain map[string]bool
	given map[string]string
	taken map[string]string
	// files are the names of the sources' files, long ones first: a path tells who keeps what where.
	files []string
}

func newMask(sources Sources, key []byte) *mask {
	m := &mask{key: key, names: map[string]string{}, byWord: map[string][]string{}, plain: map[string]bool{},
		given: map[string]string{}, taken: map[string]string{}}
	for _, word := range strings.Fields(vocabulary) {
		m.plain[word] = true
	}
	for _, history := range sources.Runs {
		m.vocabularyOf(history)
	}
	for _, history := range sources.Runs {
		m.namesOf(history)
	}
	for _, file := range sources.Watch {
		for _, change := range file.Changes {
			if f := change.Finding; f != nil {
				for _, name := range []string{f.Subject.Org, f.Subject.Repo, f.Subject.Branch, f.Subject.Job, f.Subject.Cluster,
					f.Subject.Namespace, f.Subject.Detail} {
					m.name("name", name)
				}
			}
		}
	}
	for _, file := range sources.Notes {
		for _, note := range file.Notes {
			m.person(note.Author)
		}
	}
	m.filesOf(sources)
	for _, names := range m.byWord {
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	}
	return m
}

// vocabulary are values that stand in evidence and name nobody.
const vocabulary = `true false null none default system succeeded failed running updating creating deleting canceled ` +
	`unknown ready master main user prow bot app linux windows regular spot get put post patch delete holds ` +
	`write read action list watch create update start stop restart`

func (m *mask) vocabularyOf(history *journal.History) {
	plain := func(text string) { m.plain[strings.ToLower(text)] = true }
	plain(history.Header.Run)
	plain(history.Header.Runbook)
	for _, entry := range history.Entries {
		plain(entry.Step)
		if evaluation, err := decode[journal.Evaluation](entry); entry.Kind == journal.Evaluated && err == nil {
			for _, finding := range evaluation.Findings {
				plain(finding.Guard)
			}
		}
	}
}

func (m *mask) namesOf(history *journal.History) {
	m.holder(history.Header.Holder)
	m.target(history.Header.Target.Name)
	m.target(history.Header.Target.ID)
	m.leaves(history.Header.Inputs)
	for _, entry := range history.Entries {
		switch entry.Kind {
		case journal.Opened:
			if header, err := decode[journal.Header](entry); err == nil {
				m.leaves(header.Inputs)
			}
		case journal.Resumed:
			if resumption, err := decode[journal.Resumption](entry); err == nil {
				m.holder(resumption.Holder)
				m.leaves(resumption.Inputs)
			}
		case journal.Intended:
			if intent, err := decode[journal.Intent](entry); err == nil {
				m.leaves(intent.Inputs)
			}
		case journal.Requested:
			if sent, err := decode[journal.Requests](entry); err == nil {
				for _, one := range sent.Made {
					m.target(one.Path)
				}
			}
		case journal.Evaluated:
			if evaluation, err := decode[journal.Evaluation](entry); err == nil {
				for _, finding := range evaluation.Findings {
					for _, evidence := range finding.Evidence {
						m.leaves(evidence.Value)
						if pool, found := strings.CutPrefix(evidence.Source, nodesOfPool); found {
							m.target(pool)
						}
					}
				}
			}
		default: // what else it names is found by its shape
		}
	}
}

func (m *mask) holder(h journal.Holder) {
	m.person(h.User)
	m.name("host", h.Host)
}

// person takes a name, and the parts of it by which others call somebody.
func (m *mask) person(author string) {
	m.name("person", author)
	for _, part := range strings.Fields(author) {
		m.name("person", part)
	}
}

// target takes the parts of the name or of the ID of a target.
func (m *mask) target(text string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool {
		return r == '/' || r == ',' ||
			unicode.IsSpace(r)
	}) {
		if !providerWord.MatchString(part) {
			m.name("name", part)
		}
	}
}

// providerWord are the words of an ID of Azure that name no object.
var providerWord = regexp.MustCompile(`(?i)^(subscriptions|resource-?groups|providers|microsoft\..*|managedclusters|` +
	`agentpools|clusters|in|more|pipeline|rollout|[0-9]+|apis?|v[0-9].*|.*\.k8s\.io|namespaces|nodes|pods|eviction|` +
	`kube-system|deployments|secrets|configmaps|jobs)$`)

// errorCode is what a cloud calls a failure: nobody's name, and what a reader looks for.
var errorCode = regexp.MustCompile(`^(?:[A-Z][a-z]+)+(?:Error|Failed|Failure|Conflict|NotFound|NotAllowed|` +
	`Exceeded|Timeout)$`)

// leaves takes the strings of a JSON value.
func (m *mask) leaves(raw json.RawMessage) {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return
	}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			// Sentences name what other values name too.
			if len(v) <= 256 && !strings.ContainsFunc(v, unicode.IsSpace) && !errorCode.MatchString(v) {
				m.target(v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(value)
}

// name takes a name of a kind. Short words and words of the vocabulary would hit what they don't mean.
func (m *mask) name(kind, name string) {
	name = strings.ToLower(strings.TrimSpace(name))
	if utf8.RuneCountInString(name) < 2 || m.plain[name] || !strings.ContainsFunc(name, unicode.IsLetter) {
		return
	}
	if _, known := m.names[name]; known {
		return
	}
	m.names[name] = kind
	word := name[:wordLength(name)]
	m.byWord[word] = append(m.byWord[word], name)
}

// value copies a value with its texts masked. Strings of types of their own are words of the format.
func (m *mask) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			return reflect.ValueOf(m.text(v.String()))
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			copied.Index(i).Set(m.value(v.Index(i)))
		}
		return copied
	case reflect.Struct:
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !kept[field.Name] {
				copied.Field(i).Set(m.value(v.Field(i)))
			}
		}
		return copied
	default:
	}
	return v
}

// kept are fields whose strings are the format's own.
var kept = map[string]bool{ //nolint:gochecknoglobals // never changed
	"Document": true, "Format": true, "Zone": true, "Guard": true, "Step": true, "Runbook": true, "Version": true,
	"Method": true, "For": true, "State": true,
}

// shape is how an ID or an address looks.
type shape struct {
	kind    string
	pattern *regexp.Regexp
}

var shaped = []shape{ //nolint:gochecknoglobals // compiled once, never changed
	{"url", regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<>"'|)\]]+`)},
	{"mail", regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`)},
	{"id", regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)},
	{"address", regexp.MustCompile(`\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b`)},
	{"person", regexp.MustCompile(`(?:^|[^A-Za-z0-9_.])@[A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9]`)},
	{"id", regexp.MustCompile(`(?i)\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{6,}\b`)},
}

// text masks names first, and then what has the shape of an ID.
func (m *mask) text(text string) string {
	if m.plain[strings.ToLower(text)] {
		return text
	}
	text = m.addresses(m.paths(redact.String(text)))
	for _, shape := range shaped {
		text = shape.pattern.ReplaceAllStringFunc(text, func(found string) string {
			before, value, mention := strings.Cut(found, "@")
			if shape.kind != "person" || !mention {
				before, value = "", found
			}
			return before + m.pseudonym(shape.kind, strings.ToLower(value))
		})
	}
	return m.named(text)
}

// named masks the names of the sources, where they stand as words.
func (m *mask) named(text string) string {
	var out strings.Builder
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		lower = text // then only what is written as in the source is found
	}
	for at := 0; at < len(text); {
		size := wordLength(lower[at:])
		if size == 0 {
			_, size = utf8.DecodeRuneInString(text[at:])
			out.WriteString(text[at : at+size])
			at += size
			continue
		}
		if whole := strings.TrimRight(hyphenated.FindString(lower[at:]), ".:-"); m.plain[whole] && len(whole) > size {
			out.WriteString(text[at : at+len(whole)])
			at += len(whole)
			continue
		}
		found := ""
		for _, name := range m.byWord[lower[at:at+size]] {
			if rest := lower[at:]; strings.HasPrefix(rest, name) && wordLength(rest[len(name):]) == 0 {
				found = name
				break
			}
		}
		if found == "" {
			out.WriteString(text[at : at+size])
			at += size
			continue
		}
		out.WriteString(m.pseudonym(m.names[found], found))
		at += len(found)
	}
	return out.String()
}

// hyphenated is a name of several words, such as that of a guard.
var hyphenated = regexp.MustCompile(`^[\p{L}\p{N}]+(?:[-/.][\p{L}\p{N}]+)*`)

// wordLength is how long the word is that a text begins with.
func wordLength(text string) int {
	for at, char := range text {
		if !unicode.IsLetter(char) && !unicode.IsDigit(char) {
			return at
		}
	}
	return len(text)
}

// pseudonym is a kind and the beginning of an HMAC, as long as it takes to tell it from others.
func (m *mask) pseudonym(kind, value string) string {
	if known, found := m.given[value]; found {
		return known
	}
	hash := hmac.New(sha256.New, m.key)
	hash.Write([]byte(value))
	sum := hex.EncodeToString(hash.Sum(nil))
	const short = 6
	for size := short; size <= len(sum); size++ {
		name := kind + "-" + sum[:size]
		if _, taken := m.taken[name]; !taken {
			m.given[value], m.taken[name] = name, value
			return name
		}
	}
	return redact.Mark
}

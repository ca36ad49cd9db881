package show

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"salve/internal/redact"
	"salve/internal/triage"
)

// masked is a copy of the document with every text made fit to be read: no characters that a terminal or a browser
// obeys, and no credentials unless they are to be kept. Texts are masked whole, before any of them is cut: half a token
// is not known as one.
func masked(doc triage.Document, keepSecrets bool) triage.Document {
	if keepSecrets {
		return changed(doc, visible)
	}
	return changed(withoutRemains(doc), func(text string) string { return redact.String(visible(text)) })
}

// withoutRemains has other titles for groups whose masked message has parts of a credential: masking for grouping took
// what varies out of it, and what is left has no credential's shape. The document itself stays as it is.
func withoutRemains(doc triage.Document) triage.Document {
	doc.Groups = slices.Clone(doc.Groups)
	for i := range doc.Groups {
		group := &doc.Groups[i]
		originals := []string{group.Example.Text}
		for _, e := range group.Evidence {
			originals = append(originals, e.Text)
		}
		if redact.Remains(group.Message, originals...) {
			group.Message = redactedLine(originals)
		}
		if redact.Remains(group.Frame, originals...) {
			group.Frame = redact.Mark
		}
		if redact.Remains(group.Place, originals...) {
			group.Place = redact.Mark
		}
	}
	return doc
}

// redactedLine is the first line with a credential, without it: the failure's own, where it was said in one.
func redactedLine(texts []string) string {
	const most = 512 // bytes, as a masked message has
	for _, text := range append(slices.Clone(texts[1:]), texts[0]) {
		before, after := strings.Split(text, "\n"), strings.Split(redact.String(text), "\n")
		for i := range after {
			if i >= len(before) || after[i] != before[i] {
				return cutBytes(oneLine(after[i]), most)
			}
		}
	}
	return redact.Mark
}

// changed is a copy of the document in which every text was changed.
func changed(doc triage.Document, change func(string) string) triage.Document {
	return copied(reflect.ValueOf(doc), change).Interface().(triage.Document)
}

// copied is a deep copy. The document holds no maps, and its times no texts.
func copied(value reflect.Value, change func(string) string) reflect.Value {
	fresh := reflect.New(value.Type()).Elem()
	switch value.Kind() {
	case reflect.String:
		fresh.SetString(change(value.String()))
	case reflect.Slice:
		if value.IsNil() {
			return value
		}
		fresh.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
		for i := range value.Len() {
			fresh.Index(i).Set(copied(value.Index(i), change))
		}
	case reflect.Pointer:
		if value.IsNil() {
			return value
		}
		fresh.Set(reflect.New(value.Type().Elem()))
		fresh.Elem().Set(copied(value.Elem(), change))
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			return value
		}
		for i := range value.NumField() {
			fresh.Field(i).Set(copied(value.Field(i), change))
		}
	default:
		return value
	}
	return fresh
}

// visible shows characters that would be obeyed as escapes such as \u001b. Line feeds and tabs stay, and a carriage
// return is a line feed.
func visible(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.IndexFunc(text, obeyed) < 0 && utf8.ValidString(text) {
		return text
	}
	var safe strings.Builder
	for _, char := range text { // an invalid byte comes as U+FFFD
		switch {
		case !obeyed(char):
			safe.WriteRune(char)
		case char > 0xffff:
			fmt.Fprintf(&safe, `\U%08x`, char)
		default:
			fmt.Fprintf(&safe, `\u%04x`, char)
		}
	}
	return safe.String()
}

// obeyed tells whether a character is an order and not a text: controls (C0, DEL, C1), separators of lines that not
// every program knows, and what formats invisibly, such as changes of direction. The joiners, which scripts and emoji
// need, are formats too.
func obeyed(char rune) bool {
	switch {
	case char == '\n', char == '\t', char >= ' ' && char <= '~', char == '\u200c', char == '\u200d':
		return false
	case char == '\u2028', char == '\u2029':
		return true
	}
	return unicode.Is(unicode.Cc, char) || unicode.Is(unicode.Cf, char)
}

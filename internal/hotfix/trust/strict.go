package trust

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"salve/internal/hotfix"
)

// Bounds of every document, besides its size.
const (
	maxDepth    = 40        // a pointer inside of one brings its own
	maxElements = 64        // of a list, and members of an object
	maxText     = 260       // bytes
	maxNumber   = 1<<53 - 1 // the largest integer that every reader of JSON keeps as it is
)

// Bytes are written in base64.
type Bytes []byte

// UnmarshalText reads both alphabets of base64, as DSSE asks of verifiers.
func (b *Bytes) UnmarshalText(text []byte) error {
	encoding := base64.StdEncoding
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	decoded, err := encoding.Strict().DecodeString(string(text))
	if err != nil {
		return errors.New("it is not base64")
	}
	*b = decoded
	return nil
}

// MarshalText writes the standard alphabet.
func (b Bytes) MarshalText() ([]byte, error) { return base64.StdEncoding.AppendEncode(nil, b), nil }

// Moment is a time to the second, in UTC.
type Moment struct{ time.Time }

const momentLayout = "2006-01-02T15:04:05Z"

// At is a time as documents have it.
func At(t time.Time) Moment { return Moment{t.UTC().Truncate(time.Second)} }

func (m Moment) String() string { return m.UTC().Format(momentLayout) }

// MarshalJSON writes the one form that is read.
func (m Moment) MarshalJSON() ([]byte, error) { return []byte(`"` + m.String() + `"`), nil }

// UnmarshalJSON reads the one form that is written.
func (m *Moment) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	read, err := time.Parse(momentLayout, text)
	if err != nil || read.Format(momentLayout) != text {
		return fmt.Errorf("%s is not a time such as 2026-04-01T12:00:00Z", hotfix.Quote(text))
	}
	m.Time = read
	return nil
}

// strictly reads a document of at most limit bytes into a struct. Every member has to be there under its exact name
// and once, but for those with omitempty, and there are no others. The package encoding/json would take «Counter» for
// «counter», the last of two, and null for anything.
func strictly(raw []byte, limit int, into any) error {
	switch {
	case len(raw) > limit:
		return fmt.Errorf("it is larger than %d bytes", limit)
	case !utf8.Valid(raw):
		return errors.New("it is not UTF-8")
	case hotfix.Depth(raw) > maxDepth:
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	case !json.Valid(raw):
		var ignored json.RawMessage
		return fmt.Errorf("it is not one JSON document: %w", json.Unmarshal(raw, &ignored))
	}
	r := reader{json.NewDecoder(bytes.NewReader(raw))}
	r.UseNumber()
	if err := r.conforms(reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// reader walks through a document that is valid JSON.
type reader struct{ *json.Decoder }

// conforms looks whether the next value has the form of a type.
func (r reader) conforms(form reflect.Type) error {
	switch form {
	case reflect.TypeFor[json.RawMessage]():
		var skipped json.RawMessage
		return r.Decode(&skipped)
	case reflect.TypeFor[Bytes](), reflect.TypeFor[Moment]():
		return r.text(MaxBundle)
	}
	switch form.Kind() {
	case reflect.Struct, reflect.Map:
		return r.object(form)
	case reflect.Slice:
		return r.list(form.Elem())
	case reflect.Int64:
		return r.number()
	default:
		return r.text(maxText)
	}
}

func (r reader) object(form reflect.Type) error {
	if opening, err := r.Token(); err != nil || opening != json.Delim('{') {
		return errors.New("it has to be an object")
	}
	seen := map[string]bool{}
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		member, known := memberOf(form, name)
		switch {
		case seen[name]:
			return fmt.Errorf("%s is given twice", hotfix.Quote(name))
		case !known:
			return fmt.Errorf("field %s is not known here; names count to the letter", hotfix.Quote(name))
		case len(seen) == maxElements:
			return fmt.Errorf("it has more than %d members", maxElements)
		}
		seen[name] = true
		if err := r.conforms(member); err != nil {
			return fmt.Errorf("%s: %w", hotfix.Quote(name), err)
		}
	}
	if _, err := r.Token(); err != nil {
		return err
	}
	return complete(form, seen)
}

// memberOf is the type of a member of an object; a map has them all.
func memberOf(form reflect.Type, name string) (reflect.Type, bool) {
	if form.Kind() == reflect.Map {
		return form.Elem(), true
	}
	for i := range form.NumField() {
		if tag, _, _ := strings.Cut(form.Field(i).Tag.Get("json"), ","); tag == name {
			return form.Field(i).Type, true
		}
	}
	return nil, false
}

// complete looks for the members that have to be there.
func complete(form reflect.Type, seen map[string]bool) error {
	if form.Kind() == reflect.Map {
		return nil
	}
	for i := range form.NumField() {
		if tag, option, _ := strings.Cut(form.Field(i).Tag.Get("json"), ","); option == "" && !seen[tag] {
			return fmt.Errorf("%s is missing", hotfix.Quote(tag))
		}
	}
	return nil
}

func (r reader) list(element reflect.Type) error {
	if opening, err := r.Token(); err != nil || opening != json.Delim('[') {
		return errors.New("it has to be a list")
	}
	for n := 0; r.More(); n++ {
		if n == maxElements {
			return fmt.Errorf("it has more than %d elements", maxElements)
		}
		if err := r.conforms(element); err != nil {
			return fmt.Errorf("element %d: %w", n+1, err)
		}
	}
	_, err := r.Token()
	return err
}

// text is a string without control characters.
func (r reader) text(limit int) error {
	token, err := r.Token()
	text, isText := token.(string)
	switch {
	case err != nil || !isText:
		return errors.New("it has to be a text")
	case len(text) > limit:
		return fmt.Errorf("it is longer than %d bytes", limit)
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == utf8.RuneError }):
		return errors.New("it holds what can't be printed")
	}
	return nil
}

// number is an integer from 1 to maxNumber, written in digits alone.
func (r reader) number() error {
	token, err := r.Token()
	number, _ := token.(json.Number)
	value, notInt := number.Int64()
	if err != nil || notInt != nil || value < 1 || value > maxNumber || strings.Trim(string(number), "0123456789") != "" {
		return fmt.Errorf("it has to be a whole number from 1 to %d", int64(maxNumber))
	}
	return nil
}

// checkSchema refuses documents of a later form.
func checkSchema(version int64) error {
	if version != 1 {
		return fmt.Errorf("schemaVersion %d is not one that this program reads, which is 1; use a newer one", version)
	}
	return nil
}

// encode writes a document for people too.
func encode(document any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return out.Bytes(), err
}

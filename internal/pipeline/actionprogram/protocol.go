package actionprogram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Schema is the version of what programs and Salve say to each other. A program that answers with another one is not
// understood.
const Schema = "salve.action/v1"

const (
	// maxAnswer bounds an answer, and maxOutputs what it hands on of that, in bytes of JSON: that is kept in the
	// journal.
	maxAnswer  = 1 << 20
	maxOutputs = 256 << 10
	// maxReason bounds a reason, in bytes.
	maxReason = 4 << 10
	// maxNesting bounds how deep objects and lists of an answer may be nested.
	maxNesting = 64
	// maxChanges bounds how many changes a plan may name.
	maxChanges = 1000
)

// verb is what a program is asked to do.
type verb string

const (
	observe verb = "observe"
	plan    verb = "plan"
	apply   verb = "apply"
)

// request is what a program reads.
type request struct {
	Schema string `json:"schema"`
	Verb   verb   `json:"verb"`
	Run    string `json:"run"`
	// Step is the step's resource group and name, such as fleet/certificate.
	Step    string `json:"step"`
	Action  string `json:"action"`
	Attempt int    `json:"attempt"`
	// ResourceGroup and Subscription are those in which the step acts, as the pipeline names them.
	ResourceGroup string `json:"resourceGroup"`
	Subscription  string `json:"subscription"`
	// Fields are what the step says besides what all steps say, with values in the place of references. A secret is
	// null there.
	Fields map[string]any `json:"fields"`
	// Secrets are the environment variables that hold the secrets, by the dotted paths of their fields.
	Secrets map[string]string `json:"secrets"`
}

// state is what an observation saw.
type state string

const (
	stateDone    state = "done"
	stateNotDone state = "not-done"
	stateUnknown state = "unknown"
)

// told is what the answers to observe and to apply have in common.
type told struct {
	Schema        string         `json:"schema"`
	Reason        string         `json:"reason"`
	Outputs       map[string]any `json:"outputs"`
	SecretOutputs map[string]any `json:"secretOutputs"`
}

// observation is the answer to observe.
type observation struct {
	told
	State state `json:"state"`
}

// change is one thing that apply would do.
type change struct {
	// Kind is create, update, delete or replace.
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	Summary  string `json:"summary"`
}

// planned is the answer to plan.
type planned struct {
	Schema  string   `json:"schema"`
	Changes []change `json:"changes"`
	Reason  string   `json:"reason"`
}

// result is what became of an apply.
type result string

const (
	resultDone    result = "done"
	resultFailed  result = "failed"
	resultUnknown result = "unknown"
)

// applied is the answer to apply.
type applied struct {
	told
	Result result `json:"result"`
}

func (o observation) validate() error {
	switch o.State {
	case stateDone, stateNotDone, stateUnknown:
	default:
		return fmt.Errorf("the state is %q; it must be done, not-done or unknown", o.State)
	}
	return o.told.validate(o.State == stateDone, fmt.Sprintf("the state is %q", o.State))
}

func (p planned) validate() error {
	if len(p.Changes) > maxChanges {
		return fmt.Errorf("it has %d changes, and at most %d are read", len(p.Changes), maxChanges)
	}
	for i, one := range p.Changes {
		switch one.Kind {
		case "create", "update", "delete", "replace":
		default:
			return fmt.Errorf("the kind of change %d is %q; it must be create, update, delete or replace", i+1, one.Kind)
		}
		if one.Resource == "" {
			return fmt.Errorf("change %d names no resource", i+1)
		}
		if err := said(Schema, one.Resource+one.Summary); err != nil {
			return fmt.Errorf("change %d: %w", i+1, err)
		}
	}
	return said(p.Schema, p.Reason)
}

func (a applied) validate() error {
	switch a.Result {
	case resultDone, resultFailed, resultUnknown:
	default:
		return fmt.Errorf("the result is %q; it must be done, failed or unknown", a.Result)
	}
	return a.told.validate(a.Result == resultDone, fmt.Sprintf("the result is %q", a.Result))
}

// validate refuses what is not done without a reason, and what hands something on all the same.
func (t told) validate(done bool, ended string) error {
	switch {
	case !done && t.Reason == "":
		return fmt.Errorf("%s, and no reason is given", ended)
	case !done && len(t.Outputs)+len(t.SecretOutputs) > 0:
		return fmt.Errorf("%s, and there are outputs", ended)
	}
	return errors.Join(said(t.Schema, t.Reason), handedOn(t.Outputs, t.SecretOutputs))
}

func said(schema, reason string) error {
	switch {
	case schema != Schema:
		return fmt.Errorf("the schema is %q; it must be %s", schema, Schema)
	case len(reason) > maxReason:
		return fmt.Errorf("a reason has %d bytes, and at most %d are read", len(reason), maxReason)
	}
	return nil
}

var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// handedOn refuses outputs that could not be kept, or not be told apart.
func handedOn(outputs, secrets map[string]any) error {
	for _, all := range []map[string]any{outputs, secrets} {
		for name := range all {
			if !outputName.MatchString(name) {
				return fmt.Errorf("the output %q has a name that is none: letters, digits and _ . - are allowed", name)
			}
		}
	}
	for name := range secrets {
		if _, twice := outputs[name]; twice {
			return fmt.Errorf("the output %q is given as a secret and not as one", name)
		}
	}
	raw, err := json.Marshal([]map[string]any{outputs, secrets})
	if err == nil && len(raw) > maxOutputs {
		err = fmt.Errorf("the outputs have %d bytes, and at most %d are kept", len(raw), maxOutputs)
	}
	return err
}

// answer is what a program may say.
type answer interface{ validate() error }

// decode reads an answer: one JSON object, whole, of known fields, none of them twice.
func decode[A answer](raw []byte) (A, error) {
	var read, none A
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return none, errors.New("it answers nothing")
	case len(raw) > maxAnswer:
		return none, fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	case !utf8.Valid(raw):
		return none, errors.New("its answer is no UTF-8")
	}
	if err := noneTwice(json.NewDecoder(bytes.NewReader(raw)), 0); err != nil {
		return none, fmt.Errorf("its answer: %w", shortened(err))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	decoder.UseNumber() // a number is handed on as it was written
	if err := decoder.Decode(&read); err != nil {
		return none, fmt.Errorf("its answer: %w", shortened(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return none, errors.New("its answer is more than one JSON object")
	}
	if err := read.validate(); err != nil {
		return none, fmt.Errorf("its answer: %w", shortened(err))
	}
	return read, nil
}

// twiceError is a name that an object has twice.
type twiceError struct{ path string }

func (e *twiceError) Error() string { return fmt.Sprintf("%q is given twice", e.path) }

// noneTwice refuses a name that an object has twice, or in another case: what two readers take for two things is not
// read. A path is put together for an error alone: one for each name of a deep answer would take memory by the square
// of the answer.
func noneTwice(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delimiter, nested := token.(json.Delim)
	switch {
	case !nested:
		return nil
	case depth == maxNesting:
		return fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	case delimiter == '[':
		for decoder.More() {
			if err := noneTwice(decoder, depth+1); err != nil {
				return err
			}
		}
	default:
		if err := noNameTwice(decoder, depth); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// noNameTwice reads what is within the braces of an object.
func noNameTwice(decoder *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		name := fmt.Sprint(token)
		if seen[strings.ToLower(name)] {
			return &twiceError{path: name}
		}
		seen[strings.ToLower(name)] = true
		err = noneTwice(decoder, depth+1)
		if twice, is := errors.AsType[*twiceError](err); is {
			twice.path = name + "." + twice.path
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shortened is an error as far as a reason may be long: a parser repeats names, which a program chooses.
func shortened(err error) error {
	text := err.Error()
	if len(text) <= maxReason {
		return err
	}
	return errors.New(strings.ToValidUTF8(text[:maxReason], "") + "…")
}

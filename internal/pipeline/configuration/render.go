package configuration

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/gotemplate"
)

// Context is where a configuration is rendered for.
type Context struct {
	Cloud, Environment, Region string
	// RegionShort is what names have for the region; empty leaves it to the values, ev2.regionShortName.
	RegionShort string
	// Stamp is the number of a management cluster's stamp.
	Stamp string
	// Values are what templates lead to besides .ctx, such as .ev2.
	Values map[string]any
}

// data is what templates walk through.
func (c Context) data() map[string]any {
	data := maps.Clone(c.Values)
	if data == nil {
		data = map[string]any{}
	}
	short := c.RegionShort
	if held, ok := c.Values["ev2"].(map[string]any); ok && short == "" {
		short, _ = held["regionShortName"].(string) // another type is none
	}
	place := map[string]any{"cloud": c.Cloud, "environment": c.Environment, "region": c.Region, "stamp": c.Stamp}
	if short != "" {
		place["regionShort"] = short
	}
	data["ctx"] = place
	return data
}

// Rendered is a configuration for one place.
type Rendered struct {
	Values map[string]any
	// Schema is the path of the JSON schema that the file names; empty where it names none.
	Schema string
	// Warnings are what hardly means what it says: words that YAML 1.1 takes for true and false.
	Warnings diagnostic.List
	// Everywhere: the file has nothing of its own for the region.
	Everywhere bool
}

// YAML is the configuration as a file has it, its keys sorted.
func (r *Rendered) YAML() ([]byte, error) { return yaml.Marshal(r.Values) }

// ReadValues reads a file of values, or a configuration that is rendered.
func ReadValues(path string) (map[string]any, error) {
	content, err := pipeline.ReadContent(path)
	if err != nil {
		return nil, err
	}
	values, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return values, nil
}

// parse reads a mapping. YAML is read as rollout tools read it, by version 1.1.
func parse(content []byte) (map[string]any, error) {
	var whole any
	if err := yaml.UnmarshalStrict(content, &whole); err != nil {
		says := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: ")
		return nil, errors.New(strings.Join(strings.Fields(strings.TrimPrefix(says, "unmarshal errors:")), " "))
	}
	switch whole := whole.(type) {
	case map[string]any:
		return whole, nil
	case nil:
		return nil, errors.New("it is empty")
	}
	return nil, errors.New("it is no mapping")
}

// IsUnrendered tells whether a file is a configuration that is not rendered yet.
func IsUnrendered(path string) (bool, error) {
	content, err := pipeline.ReadContent(path)
	return pipeline.Unrendered(content), err
}

// Render renders a configuration, over which others are laid before, in their order. What is wrong with the files is in
// the list; the configuration is nil then.
func Render(context Context, path string, overlays ...string) (*Rendered, diagnostic.List, error) {
	whole, schema := map[string]any{}, ""
	var warnings diagnostic.List
	for _, one := range append([]string{path}, overlays...) {
		content, err := pipeline.ReadContent(one)
		if err != nil {
			return nil, nil, err
		}
		filled, values, wrong := fill(context, one, string(content))
		if wrong != nil {
			return nil, diagnostic.List{*wrong}, nil
		}
		top := level{path: one, called: theWhole, values: values}
		if wrong := top.known("$schema", "defaults", "clouds"); wrong != nil {
			return nil, diagnostic.List{*wrong}, nil
		}
		warnings = append(warnings, booleans(one, string(content), filled)...)
		if named, ok := values["$schema"].(string); ok {
			schema = beside(one, named)
		}
		whole = merge(whole, values)
	}
	rendered, wrong := choose(context, path, whole)
	if wrong != nil {
		return nil, diagnostic.List{*wrong}, nil
	}
	rendered.Schema, rendered.Warnings = schema, warnings
	return rendered, nil, nil
}

func beside(path, named string) string {
	if named == "" || filepath.IsAbs(named) || strings.Contains(named, "://") {
		return named
	}
	return filepath.Join(filepath.Dir(path), filepath.FromSlash(named))
}

// booleans warns of words in a file that was filled in. Their lines are those of the file where templates add none and
// take none away; else they are not known.
func booleans(path, text, filled string) diagnostic.List {
	found := pipeline.Booleans(path, []byte(filled))
	if strings.Count(text, "\n") != strings.Count(filled, "\n") {
		for i := range found {
			found[i].Position = diagnostic.Position{File: path}
		}
	}
	return found
}

// fill is a file with its templates filled in, and what it says then.
func fill(context Context, path, text string) (filled string, values map[string]any, found *diagnostic.Diagnostic) {
	template, err := gotemplate.Parse(text)
	if err == nil {
		filled, err = template.Execute(context.data())
	}
	var wrong *gotemplate.Error
	if errors.As(err, &wrong) {
		return "", nil, unfilled(path, wrong)
	}
	if values, err = parse([]byte(filled)); err != nil {
		wrong := problem(diagnostic.Position{File: path}, "yaml-syntax",
			"this is not YAML once it is filled in: "+err.Error())
		return "", nil, &wrong
	}
	return filled, values, nil
}

// unfilled says why a file can't be filled in, and who gives what is missing.
func unfilled(path string, wrong *gotemplate.Error) *diagnostic.Diagnostic {
	at := diagnostic.Position{File: path, Line: wrong.Line, Column: max(wrong.Column, 1)}
	found := problem(at, "template", wrong.Reason)
	switch first, _, _ := strings.Cut(wrong.Missing, "."); {
	case wrong.Missing == "":
		return &found
	case wrong.Missing == "ctx.regionShort":
		found.Advice = "--region-short gives it"
	default:
		found.Advice = "--values FILE gives what templates lead to, such as " + first + ": {…}"
	}
	found.Rule, found.Message = "missing-config", "nothing gives ."+wrong.Missing
	return &found
}

func problem(at diagnostic.Position, rule, message string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Position: at, Severity: diagnostic.Error, Rule: rule, Message: message}
}

// choose lays what a file has for a place over what it has for all.
func choose(context Context, path string, whole map[string]any) (*Rendered, *diagnostic.Diagnostic) {
	at := level{path: path, called: theWhole, values: whole}
	values := map[string]any{}
	for _, next := range []struct{ field, name string }{
		{"clouds", context.Cloud}, {"environments", context.Environment}, {"regions", context.Region},
	} {
		if wrong := at.known("$schema", "defaults", next.field); wrong != nil {
			return nil, wrong
		}
		defaults, wrong := at.mapping("defaults")
		if wrong != nil {
			return nil, wrong
		}
		values = merge(values, defaults)
		below, wrong := at.mapping(next.field)
		if wrong != nil {
			return nil, wrong
		}
		held, there := below[next.name]
		if !there && next.field == "regions" {
			return &Rendered{Values: values, Everywhere: true}, nil
		}
		if !there {
			return nil, at.absent(next.field, next.name, below)
		}
		at = level{path: path, called: next.field + "." + next.name, values: map[string]any{}}
		if held != nil {
			var ok bool
			if at.values, ok = held.(map[string]any); !ok {
				return nil, at.wrong("wrong-type", at.called+" must be a mapping", "")
			}
		}
	}
	return &Rendered{Values: merge(values, at.values)}, nil
}

// theWhole is what the level of a whole file is called.
const theWhole = "the configuration"

// level is a part of a file: all of it, a cloud, an environment or a region.
type level struct {
	path, called string
	values       map[string]any
}

func (l level) wrong(rule, message, advice string) *diagnostic.Diagnostic {
	found := problem(diagnostic.Position{File: l.path}, rule, message)
	found.Advice = advice
	return &found
}

// known refuses fields that nobody reads.
func (l level) known(fields ...string) *diagnostic.Diagnostic {
	if l.called != theWhole {
		fields = fields[1:] // the schema is the whole file's
	}
	for _, name := range slices.Sorted(maps.Keys(l.values)) {
		if !slices.Contains(fields, name) {
			return l.wrong("unknown-field", fmt.Sprintf("%s has no field %q", l.called, name),
				diagnostic.DidYouMean(name, fields))
		}
	}
	return nil
}

func (l level) mapping(field string) (map[string]any, *diagnostic.Diagnostic) {
	held, there := l.values[field]
	if !there || held == nil {
		return nil, nil
	}
	values, ok := held.(map[string]any)
	if !ok {
		return nil, l.wrong("wrong-type", fmt.Sprintf("%q of %s must be a mapping", field, l.called), "")
	}
	return values, nil
}

func (l level) absent(field, name string, below map[string]any) *diagnostic.Diagnostic {
	names := slices.Sorted(maps.Keys(below))
	advice := diagnostic.DidYouMean(name, names)
	if advice == "" && len(names) > 0 {
		advice = "it has " + strings.Join(names, ", ")
	}
	return l.wrong("missing-config", fmt.Sprintf("%s has no %q in its %s", l.called, name, field), advice)
}

// merge lays values over others. Mappings are laid over mappings; whatever else takes the place of what was there.
func merge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range over {
		below, isMapping := merged[name].(map[string]any)
		if above, ok := value.(map[string]any); ok && isMapping {
			value = merge(below, above)
		}
		merged[name] = value
	}
	return merged
}

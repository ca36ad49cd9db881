package pipeline

import (
	"salve/internal/diagnostic"
	"salve/internal/pipeline/gotemplate"
)

// Fill fills the templates of a file that a pipeline names, such as that of a
// deployment's parameters. quote writes a value as the file's language has it. When
// something can't be filled in, the text is empty and the list says what.
func (c *Config) Fill(path, text string, quote func(value string) string) (string, diagnostic.List) {
	filler := filler{config: c, quote: quote}
	filled, flaws := filler.fill(text)
	var found diagnostic.List
	for _, wrong := range flaws {
		one := problem(diagnostic.Position{File: path, Line: wrong.line, Column: wrong.column}, wrong.rule, "%s",
			wrong.message)
		one.Advice = wrong.advice
		found = append(found, one)
	}
	return filled, found
}

// parameterFiles are the files with parameters that steps name, each with the first
// of those steps.
func (f *File) parameterFiles() map[string]*Step {
	files := map[string]*Step{}
	for _, step := range f.Steps() {
		if step.Deploys == nil || step.Deploys.Parameters.Value == "" || templated(step.Deploys.Parameters.Value) {
			continue
		}
		if path := f.seen(step.Deploys.Parameters.Value); files[path] == nil {
			files[path] = step
		}
	}
	return files
}

// parameters validates the templates in the files with parameters.
func (v *validator) parameters() {
	if v.in.FileOnly {
		return
	}
	for path, step := range v.file.parameterFiles() {
		content, err := ReadNamed(path)
		if err != nil {
			continue // that it isn't there has been said
		}
		if step.Deploys.BicepParameters() && !v.in.AnyTemplates {
			v.onlyPaths(step, path, string(content))
		}
		if v.in.Config == nil {
			continue
		}
		_, found := v.in.Config.Fill(path, string(content), asIs)
		for _, wrong := range found {
			wrong.Step = step.ID().String()
			v.found = append(v.found, wrong)
		}
	}
}

// onlyPaths says where a file of parameters has a template that is more than a path. It works; tools that check for
// that refuse it.
func (v *validator) onlyPaths(step *Step, path, text string) {
	if !templated(text) {
		return
	}
	parsed, err := gotemplate.Parse(text)
	if err != nil {
		return // that is said where it is filled in
	}
	if _, more := parsed.Parts(); more != nil {
		v.warn(step, diagnostic.Position{File: path, Line: more.Line, Column: 1}, "bicepparam-template",
			"--skip-bicepparam-validation accepts it", "%s", more.Reason)
	}
}

package pipeline

import (
	"os"
	"path/filepath"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/bicep"
)

// Deploys are the files of a step that deploys a template, from the pipeline's folder.
type Deploys struct{ Template, Parameters Text }

// BicepParameters tells whether the parameters are Bicep. Their using statement then names the template, and what the
// step calls its template is not read.
func (d *Deploys) BicepParameters() bool { return filepath.Ext(d.Parameters.Value) == ".bicepparam" }

// source is a template that a step deploys: where it is, and where it is named.
type source struct {
	// path is empty where it is not known, or no file of this machine.
	path  string
	named Text
	// beside is the folder that the name starts from.
	beside string
	// wrong says why there is none.
	wrong string
}

// template finds what a step deploys. Each file of parameters is read once.
func (f *File) template(step *Step) source {
	deploys := step.Deploys
	if !deploys.BicepParameters() {
		return f.sourceAt(deploys.Template, f.Folder())
	}
	if templated(deploys.Parameters.Value) {
		return source{}
	}
	path := f.seen(deploys.Parameters.Value)
	f.in.mu.Lock()
	defer f.in.mu.Unlock()
	if f.in.used == nil {
		f.in.used = map[string]source{}
	}
	if _, read := f.in.used[path]; !read {
		f.in.used[path] = f.templateUsed(path)
	}
	return f.in.used[path]
}

// templateUsed finds what a file of Bicep's parameters is for.
func (f *File) templateUsed(path string) source {
	content, err := ReadNamed(path)
	if err != nil {
		return source{} // that it isn't there is said where it is looked for
	}
	text := string(content)
	if config := f.Config(); config != nil {
		if filled, found := config.Fill(path, text, asIs); len(found) == 0 {
			text = filled
		}
	}
	using, found := bicep.UsingOf(text)
	named := Text{using.Target, diagnostic.Position{File: path, Line: using.Line, Column: using.Column}}
	switch {
	case !found:
		named.At.Line, named.At.Column = 1, 1
		return source{named: named, wrong: "it has no using statement, which names the template"}
	case using.None():
		return source{named: named, wrong: "using none names no template that could be deployed"}
	case !using.IsPath():
		return source{named: named}
	}
	return f.sourceAt(named, filepath.Dir(path))
}

func (f *File) sourceAt(named Text, folder string) source {
	switch {
	case named.Value == "" || templated(named.Value):
		return source{named: named}
	case filepath.IsAbs(named.Value):
		return source{path: filepath.Clean(named.Value), named: named, beside: folder}
	}
	return source{path: filepath.Join(folder, filepath.FromSlash(named.Value)), named: named, beside: folder}
}

// TemplateOf is the path of the template that a step deploys; empty where that is not known.
func (f *File) TemplateOf(step *Step) string {
	if step.Deploys == nil {
		return ""
	}
	return f.template(step).path
}

// used are the templates that files of parameters name.
func (f *File) used() []string {
	var paths []string
	for _, step := range f.Steps() {
		if step.Deploys == nil || !step.Deploys.BicepParameters() {
			continue
		}
		if path := f.template(step).path; path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// using looks for the templates that files of parameters name. What is wrong with a file is said once.
func (v *validator) using(made madeBy) {
	if v.in.FileOnly {
		return
	}
	said := map[string]bool{}
	for _, step := range v.steps {
		if step.Deploys == nil || !step.Deploys.BicepParameters() || said[step.Deploys.Parameters.Value] {
			continue
		}
		said[step.Deploys.Parameters.Value] = true
		template := v.file.template(step)
		if template.wrong != "" {
			v.add(step, template.named.At, "bicep-using", "", "%s", template.wrong)
			continue
		}
		if template.path == "" {
			continue
		}
		if _, err := os.Stat(template.path); err != nil && !made(template.path) {
			v.add(step, template.named.At, "file-missing", v.near(template.path, template.named.Value),
				"there is no %s, seen from the folder of this file", template.named.Value)
		}
	}
}

func asIs(value string) string { return value }

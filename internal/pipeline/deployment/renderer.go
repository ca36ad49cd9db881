package deployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

// Renderer is where orders are written out. What it has read once it doesn't read
// again: what was validated before the first step is what is deployed.
type Renderer struct {
	// Folder is the pipeline's.
	Folder string
	// Config is where templates of parameters files lead; nil where there is none.
	Config *pipeline.Config
	// Environment is what a Bicep compiler gets, as NAME=value.
	Environment []string
	Clock       clock.Clock

	mu     sync.Mutex
	drafts map[pipeline.StepID]*draft
}

// Order is what a step deploys.
type Order struct {
	Template json.RawMessage
	// Parameters are by name {"value": …} or {"reference": …}.
	Parameters map[string]json.RawMessage
	// Secret names the parameters that must not be written anywhere.
	Secret map[string]bool
}

// Check finds what keeps a step from being deployed, as far as its values are known.
func (d *Renderer) Check(ctx context.Context, step *pipeline.Step) error {
	read, err := d.draft(ctx, step)
	if err != nil {
		return err
	}
	order := read.order()
	for _, variable := range step.ARM.Variables {
		if variable.Input != nil {
			err = errors.Join(err, read.promise(order, variable.Name.Value))
			continue
		}
		err = errors.Join(err, read.set(order, rollout.Variable{Name: variable.Name.Value, Value: variable.Literal}))
	}
	return inOneLine(errors.Join(err, read.whole(order)))
}

// inOneLine says several mistakes in one sentence.
func inOneLine(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// Diagnose finds what Check finds, as far as that takes no compiler and no file that
// isn't there.
func (d *Renderer) Diagnose(ctx context.Context, step *pipeline.Step) diagnostic.List {
	for _, named := range []pipeline.Text{step.ARM.Template, step.ARM.Parameters} {
		if _, err := os.Stat(d.path(named)); err != nil || filepath.Ext(named.Value) != ".json" {
			return nil
		}
	}
	err := d.Check(ctx, step)
	if err == nil {
		return nil
	}
	return diagnostic.List{{Position: step.ARM.Template.At, Severity: diagnostic.Error, Rule: "undeployable",
		Step: step.ID().String(), Message: err.Error()}}
}

// Secret tells whether a variable of a step that was checked becomes a parameter of
// a secure type.
func (d *Renderer) Secret(step *pipeline.Step, variable string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	read := d.drafts[step.ID()]
	if read == nil {
		return false
	}
	declared, err := read.template.declared(variable)
	return err == nil && declared.secure()
}

// Order is what a step deploys with the values that it is given.
func (d *Renderer) Order(ctx context.Context, step *pipeline.Step, variables []rollout.Variable) (*Order, error) {
	read, err := d.draft(ctx, step)
	if err != nil {
		return nil, err
	}
	order := read.order()
	for _, one := range variables {
		err = errors.Join(err, read.set(order, one))
	}
	if err = errors.Join(err, read.whole(order)); err != nil {
		return nil, inOneLine(err)
	}
	return order, nil
}

// draft is what a step's files say.
type draft struct {
	template *template
	// called is the file that names the template, as the step has it.
	called     string
	parameters map[string]json.RawMessage
}

func (d *Renderer) draft(ctx context.Context, step *pipeline.Step) (*draft, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if read := d.drafts[step.ID()]; read != nil {
		return read, nil
	}
	read, err := d.read(ctx, step)
	if err != nil {
		return nil, err
	}
	if err := read.template.fits(step.ARM); err != nil {
		return nil, fmt.Errorf("%s: %w", read.called, err)
	}
	if d.drafts == nil {
		d.drafts = map[pipeline.StepID]*draft{}
	}
	d.drafts[step.ID()] = read
	return read, nil
}

// read reads what a step names: both files, or Bicep's parameters with the template that they are for.
func (d *Renderer) read(ctx context.Context, step *pipeline.Step) (*draft, error) {
	template, parameters, err := d.texts(ctx, step)
	if err != nil {
		return nil, err
	}
	read := &draft{called: step.ARM.Template.Value}
	if step.Deploys.BicepParameters() {
		read.called = step.ARM.Parameters.Value
	}
	if read.template, err = parseTemplate(template); err != nil {
		return nil, fmt.Errorf("%s: %w", read.called, err)
	}
	if read.parameters, err = parseParameters(parameters); err != nil {
		return nil, fmt.Errorf("%s: %w", step.ARM.Parameters.Value, err)
	}
	for name := range read.parameters {
		if _, err := read.template.declared(name); err != nil {
			return nil, fmt.Errorf("%s: %w", step.ARM.Parameters.Value, err)
		}
	}
	return read, nil
}

// texts are the JSON of the template and of the parameters.
func (d *Renderer) texts(ctx context.Context, step *pipeline.Step) (template, parameters []byte, err error) {
	if step.Deploys.BicepParameters() {
		return d.compiled(ctx, d.path(step.ARM.Parameters))
	}
	if template, err = d.templateOf(ctx, d.path(step.ARM.Template)); err != nil {
		return nil, nil, err
	}
	text, err := d.filled(d.path(step.ARM.Parameters), inJSON)
	return template, []byte(text), err
}

func (d *Renderer) path(named pipeline.Text) string {
	if filepath.IsAbs(named.Value) {
		return named.Value
	}
	return filepath.Join(d.Folder, named.Value)
}

// order is the draft's, before the step's variables are set.
func (r *draft) order() *Order {
	order := &Order{
		Template: r.template.text, Parameters: map[string]json.RawMessage{}, Secret: map[string]bool{},
	}
	for name, value := range r.parameters {
		declared, _ := r.template.declared(name) // reading has validated it
		order.Parameters[declared.name] = value
		order.Secret[declared.name] = declared.secure()
	}
	return order
}

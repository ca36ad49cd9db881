package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/process"
)

const (
	// compiling bounds one call of the compiler; it may fetch modules.
	compiling = 2 * time.Minute
	// grace is what it has to end when it is told to.
	grace = 5 * time.Second
	// largest is ARM's limit for a template with its parameters:
	// https://learn.microsoft.com/azure/azure-resource-manager/templates/best-practices#template-limits
	largest = 4 << 20
)

// templateOf is the JSON of a template.
func (d *Renderer) templateOf(ctx context.Context, path string) ([]byte, error) {
	if filepath.Ext(path) == ".bicep" {
		return d.bicep(ctx, path, "build", path)
	}
	return read(path)
}

// filled is a file of parameters with the configuration's values.
func (d *Renderer) filled(path string, quote func(string) string) (string, error) {
	content, err := read(path)
	if err != nil {
		return "", err
	}
	text, found := d.Config.Fill(path, string(content), quote)
	return text, problems(found)
}

// compiled has the compiler read Bicep's parameters, with the configuration's values, and the template that they are
// for. They lie beside the file that they come from meanwhile: what it refers to is found from there.
func (d *Renderer) compiled(ctx context.Context, path string) (template, parameters []byte, err error) {
	text, err := d.filled(path, inBicep)
	if err != nil {
		return nil, nil, err
	}
	beside, err := os.CreateTemp(filepath.Dir(path), ".salve-*.bicepparam")
	if err != nil {
		return nil, nil, fmt.Errorf("filling in %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.Remove(beside.Name())) }()
	_, err = beside.WriteString(text)
	if err = errors.Join(err, beside.Close()); err != nil {
		return nil, nil, fmt.Errorf("filling in %s: %w", path, err)
	}
	said, err := d.bicep(ctx, path, "build-params", beside.Name())
	if err != nil {
		return nil, nil, err
	}
	// On standard output the compiler gives both files, each as a text:
	// https://github.com/Azure/bicep/issues/14186
	var both struct {
		ParametersJSON string `json:"parametersJson"`
		TemplateJSON   string `json:"templateJson"`
	}
	switch err := unmarshal(said, &both); {
	case err != nil || both.ParametersJSON == "":
		return nil, nil, fmt.Errorf("%s: the bicep program gave no parameters; a version of 0.18 or later does", path)
	case both.TemplateJSON == "":
		return nil, nil, fmt.Errorf("%s: the bicep program gave no template: its using statement must name one of this "+
			"machine or of a registry", path)
	}
	return []byte(both.TemplateJSON), []byte(both.ParametersJSON), nil
}

// compiler is the program that compiles Bicep, and what its arguments begin with: Azure's own tool brings one, too.
func compiler() (program string, first []string, err error) {
	if program, err = exec.LookPath("bicep"); err == nil {
		return program, nil, nil
	}
	if azure, missing := exec.LookPath("az"); missing == nil {
		return azure, []string{"bicep"}, nil
	}
	return "", nil, err
}

// bicep runs the compiler on a file and gives what it prints; what goes wrong is said of the path. The compiler works
// in the file's folder, so that it gets the file's whole path.
func (d *Renderer) bicep(ctx context.Context, path, command, file string) ([]byte, error) {
	program, arguments, err := compiler()
	if err != nil {
		return nil, fmt.Errorf("%s is Bicep, and there is no program bicep on PATH: install it, or build the file to JSON "+
			"and name that", path)
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", path, err)
	}
	if arguments = append(arguments, command, "--stdout"); len(arguments) > 2 {
		arguments = append(arguments, "--file")
	}
	ctx, cancel := clock.WithTimeout(ctx, d.Clock, compiling)
	defer cancel()
	var out, wrong bytes.Buffer
	ending, err := process.Command{
		Path: program, Arguments: append(arguments, absolute), Folder: filepath.Dir(absolute), Environment: d.Environment,
		Stdout: &out, Stderr: &wrong, Grace: grace, Clock: d.Clock,
	}.Run(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("compiling %s: %w", path, err)
	case ending.Stopped:
		return nil, fmt.Errorf("compiling %s: bicep %s was stopped: %w", path, command, context.Cause(ctx))
	case !ending.ByItself() || ending.Code != 0:
		return nil, fmt.Errorf("compiling %s: bicep %s ended with %s: %s", path, command, ending,
			diagnostic.Bounded(strings.TrimSpace(wrong.String())))
	}
	return out.Bytes(), nil
}

// read reads a file that a step names, if it is one that ARM would take.
func read(path string) ([]byte, error) {
	content, err := pipeline.ReadNamed(path)
	if len(content) > largest {
		return nil, fmt.Errorf("%s is larger than 4 MiB, which ARM does not take", path)
	}
	return content, err
}

func problems(found diagnostic.List) error {
	if len(found) == 0 {
		return nil
	}
	var all []string
	for _, one := range found {
		all = append(all, one.String())
	}
	return errors.New(strings.Join(all, "; "))
}

// inJSON writes a value into JSON: within a string as it is escaped there, so that
// a number stands for itself outside of one.
func inJSON(value string) string {
	raw, _ := json.Marshal(value) // a text is always encodable
	return string(raw[1 : len(raw)-1])
}

// inBicep writes a value into a string of Bicep:
// https://learn.microsoft.com/azure/azure-resource-manager/bicep/data-types#strings
func inBicep(value string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`, `${`, `\${`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
}

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

// compiled is the JSON of a template.
func (d *Renderer) compiled(ctx context.Context, path string) ([]byte, error) {
	if filepath.Ext(path) == ".bicep" {
		return d.bicep(ctx, path, "build", "--stdout", path)
	}
	return read(path)
}

// filled is the JSON of a file of parameters, with the configuration's values.
func (d *Renderer) filled(ctx context.Context, path string) ([]byte, error) {
	content, err := read(path)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(path) != ".bicepparam" {
		text, found := d.Config.Fill(path, string(content), inJSON)
		return []byte(text), problems(found)
	}
	text, found := d.Config.Fill(path, string(content), inBicep)
	if err := problems(found); err != nil {
		return nil, err
	}
	return d.compiledParameters(ctx, path, text)
}

// compiledParameters has the compiler read filled parameters. They lie beside the
// file that they come from meanwhile: what it refers to is found from there.
func (d *Renderer) compiledParameters(ctx context.Context, path, text string) (_ []byte, err error) {
	beside, err := os.CreateTemp(filepath.Dir(path), ".salve-*.bicepparam")
	if err != nil {
		return nil, fmt.Errorf("filling in %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.Remove(beside.Name())) }()
	_, err = beside.WriteString(text)
	if err = errors.Join(err, beside.Close()); err != nil {
		return nil, fmt.Errorf("filling in %s: %w", path, err)
	}
	said, err := d.bicep(ctx, path, "build-params", "--stdout", beside.Name())
	if err != nil {
		return nil, err
	}
	// On standard output the compiler gives both files, each as a text:
	// https://github.com/Azure/bicep/issues/14186
	var both struct {
		ParametersJSON string `json:"parametersJson"`
	}
	if err := unmarshal(said, &both); err != nil || both.ParametersJSON == "" {
		return nil, fmt.Errorf("%s: the bicep program gave no parameters; a version of 0.18 or later does", path)
	}
	return []byte(both.ParametersJSON), nil
}

// bicep runs the compiler on a file and gives what it prints.
func (d *Renderer) bicep(ctx context.Context, path string, arguments ...string) ([]byte, error) {
	program, err := exec.LookPath("bicep")
	if err != nil {
		return nil, fmt.Errorf("%s is Bicep, and there is no program bicep on PATH: install it, or build the file to JSON "+
			"and name that", path)
	}
	ctx, cancel := clock.WithTimeout(ctx, d.Clock, compiling)
	defer cancel()
	var out, wrong bytes.Buffer
	ending, err := process.Command{
		Path: program, Arguments: arguments, Folder: filepath.Dir(path), Environment: d.Environment,
		Stdout: &out, Stderr: &wrong, Grace: grace, Clock: d.Clock,
	}.Run(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("compiling %s: %w", path, err)
	case ending.Stopped:
		return nil, fmt.Errorf("compiling %s: bicep %s was stopped: %w", path, arguments[0], context.Cause(ctx))
	case !ending.ByItself() || ending.Code != 0:
		return nil, fmt.Errorf("compiling %s: bicep %s ended with %s: %s", path, arguments[0], ending,
			strings.TrimSpace(wrong.String()))
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
	var all []error
	for _, one := range found {
		all = append(all, errors.New(one.String()))
	}
	return errors.Join(all...)
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

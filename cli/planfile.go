package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// planFile is a plan as it is written to a file: whoever reads it can tell that it is whole by its digest.
type planFile struct {
	report.Document
	Plan runbook.Plan `json:"plan"`
}

// largestPlan bounds a plan that is read.
const largestPlan = 32 << 20

// addPlanOutput lets -o of a plan name a file. It takes the place of the flag that all commands have.
func (a *app) addPlanOutput(command *cobra.Command, asked *request) {
	command.Flags().StringVarP(&asked.output, "output", "o", "table",
		"how to print the answer: table or json; or a `FILE`, with a dot or a slash in its name, to which the plan is "+
			"written for run --plan: as YAML where it ends in .yaml or .yml, else as JSON")
}

// readPlanOutput tells formats from files.
func (a *app) readPlanOutput(command *cobra.Command, asked *request) error {
	if asked.output == "" {
		return nil
	}
	if !strings.HasPrefix(asked.output, "jsonpath") && strings.ContainsAny(asked.output, "./\\") {
		asked.planFile = asked.output
		return nil
	}
	a.output = asked.output
	return a.checkGlobalFlags(command)
}

// writePlan writes the plan of the only result.
func (e *invocation) writePlan(results []engine.Result) error {
	if e.planFile == "" {
		return nil
	}
	if len(results) != 1 {
		return usage("--output %s takes one plan, and there are %d targets: name one", e.planFile, len(results))
	}
	plan := results[0].Plan
	if plan == nil {
		e.watch.say(fmt.Sprintf("No plan is written to %s: a run would not act.", e.planFile))
		return nil
	}
	return writePlanFile(e.planFile, *plan)
}

// writePlanFile writes a plan, as YAML where the file's name says so.
func writePlanFile(path string, plan runbook.Plan) error {
	raw, err := json.MarshalIndent(planFile{report.NewDocument("plan-file"), plan}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	if isYAMLFile(path) {
		if raw, err = yamlOf(raw); err == nil {
			_, err = jsonOf(raw) // what can't be read back is not written
		}
		if err != nil {
			return fmt.Errorf("writing the plan as YAML: %w. hint: -o FILE.json", err)
		}
	}
	err = writeWhole(path, func(file *os.File) error {
		_, err := file.Write(append(bytes.TrimSuffix(raw, []byte("\n")), '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the plan to %s: %w", path, err)
	}
	return nil
}

// readPlanFile reads a plan, and believes it as far as its digest goes.
func readPlanFile(path string) (*runbook.Plan, error) {
	raw, err := readBounded(path, largestPlan)
	if err != nil {
		return nil, usage("--plan: %v", err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		if raw, err = jsonOf(raw); err != nil {
			return nil, usage("--plan %s: not a plan: %v", path, err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var read planFile
	if err := decoder.Decode(&read); err != nil {
		return nil, usage("--plan %s: not a plan: %v", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, usage("--plan %s: not a plan: something follows its end", path)
	}
	if want := report.NewDocument("plan-file"); read.Document != want {
		return nil, usage("--plan %s: schemaVersion %d, kind %q: want %d, %q", path, read.SchemaVersion, read.Kind,
			want.SchemaVersion, want.Kind)
	}
	if err := read.Plan.Verify(); err != nil {
		return nil, usage("--plan %s: %v", path, err)
	}
	if err := read.asWritten(raw); err != nil {
		return nil, usage("--plan %s: %v", path, err)
	}
	return &read.Plan, nil
}

// asWritten refuses a file that other programs read otherwise than this one: encoding/json takes the last of two
// members of one name, in whatever case it is written, so that what a reviewer was shown need not be what is executed.
func (p planFile) asWritten(raw []byte) error {
	own, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	var file bytes.Buffer
	if err := json.Compact(&file, raw); err != nil {
		return err
	}
	if !bytes.Equal(file.Bytes(), own) {
		return errors.New("it is not as plan -o wrote it: names stand in it twice or in other letters, or in another order")
	}
	return nil
}

// readPlan takes --plan: a digest, or a file with a plan of a runbook.
func (r *request) readPlan(name string) error {
	if r.plan == "" {
		return nil
	}
	if digest, whole := wholeDigest(r.plan); whole {
		r.expected = &engine.ExpectedPlan{Digest: digest}
		return nil
	}
	if isCutDigest(r.plan) {
		return usage("invalid --plan %q: %d digits of a digest; a run is bound to all 64, or to a FILE", r.plan, len(r.plan))
	}
	plan, err := readPlanFile(r.plan)
	if err != nil {
		return err
	}
	if plan.Runbook != name {
		return usage("--plan %s is a plan of %q. hint: %s --plan %s", r.plan, plan.Runbook, executing(plan.Runbook), r.plan)
	}
	r.expected = &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}
	return nil
}

// executing is the command that executes plans of a runbook.
func executing(name string) string {
	switch name {
	case rollout.Name:
		return "salve pipeline run FILE"
	case entrypoint.Name:
		return "salve pipeline run --topology FILE --entrypoint NAME --region REGION"
	}
	return "salve run " + name
}

// fromPlan tells whether the inputs are those of the plan's file: no flag names any.
func (r *request) fromPlan(flags *pflag.FlagSet) bool {
	if r.expected == nil || r.expected.Plan == nil {
		return false
	}
	ways := pflag.NewFlagSet("", pflag.ContinueOnError)
	other := &request{}
	other.cloud.addFlags(ways)
	other.addFlags(ways)
	other.telemetry.addFlags(ways)
	other.addRunFlags(ways)
	own := true
	flags.Visit(func(flag *pflag.Flag) {
		global := flag.Name == "output" || flag.Name == "verbosity"
		own = own && (global || ways.Lookup(flag.Name) != nil)
	})
	return own
}

// factoryFor makes the factory from flags, or from the inputs in the plan's file where no flag gives any.
func (r *request) factoryFor(command *cobra.Command, a *app, definition entry) (factory, error) {
	if !r.fromPlan(command.Flags()) {
		return definition.factory(a, r)
	}
	plan := r.expected.Plan
	if bytes.Contains(plan.Inputs, []byte("[redacted]")) {
		return nil, usage("--plan %s: its inputs hold what looks like a credential, which is masked there. "+
			"hint: give the same flags again, with --plan %s", r.plan, plan.Digest)
	}
	if err := r.cloud.check(); err != nil {
		return nil, err
	}
	return definition.resumed(command.Context(), a, r, journal.Header{
		Run: "of the plan", Runbook: plan.Runbook, Version: plan.Version, Target: plan.Target, Inputs: plan.Inputs,
	})
}

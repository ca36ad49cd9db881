package approval

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/journal"
)

// policy is a file that says who has to approve plans.
type policy struct {
	SchemaVersion int      `yaml:"schemaVersion"`
	ApproveBy     []string `yaml:"approveBy"`
	FourEyes      bool     `yaml:"fourEyes"`
	Wait          string   `yaml:"wait"`
	People        []struct {
		Name string `yaml:"name"`
		Key  string `yaml:"key"`
	} `yaml:"people"`
}

// ReadPolicy reads a rule from YAML or JSON. A field that it does not know is an error.
func ReadPolicy(raw []byte) (journal.ApprovalRule, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var read policy
	if err := decoder.Decode(&read); err != nil {
		return journal.ApprovalRule{}, fmt.Errorf("not a policy of approvals: %w", err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return journal.ApprovalRule{}, errors.New("not a policy of approvals: a second document follows")
	}
	if read.SchemaVersion != 1 {
		return journal.ApprovalRule{}, fmt.Errorf("schemaVersion is %d, want 1", read.SchemaVersion)
	}
	rule := journal.ApprovalRule{By: read.ApproveBy, FourEyes: read.FourEyes, WaitSeconds: DefaultWait.Seconds()}
	if read.Wait != "" {
		wait, err := time.ParseDuration(read.Wait)
		if err != nil {
			return journal.ApprovalRule{}, fmt.Errorf("wait %q is not a duration such as 15m or 1h30m", read.Wait)
		}
		rule.WaitSeconds = wait.Seconds()
	}
	for _, who := range read.ApproveBy {
		if _, _, err := parse(who); err != nil {
			return journal.ApprovalRule{}, fmt.Errorf("approveBy: %w", err)
		}
	}
	for _, person := range read.People {
		rule.Keys = append(rule.Keys, journal.ApproverKey{Name: person.Name, Key: person.Key})
	}
	return rule, CheckWait(time.Duration(rule.WaitSeconds * float64(time.Second)))
}

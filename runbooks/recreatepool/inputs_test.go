package recreatepool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestInputsValidate(t *testing.T) {
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		edit func(*Inputs)
		want string
	}{
		"zero threshold":         {func(in *Inputs) { in.Threshold = 0 }, "failure threshold 0"},
		"negative threshold":     {func(in *Inputs) { in.Threshold = -3 }, "failure threshold -3"},
		"negative window":        {func(in *Inputs) { in.Window.Duration = -1 }, "window"},
		"window of a year":       {func(in *Inputs) { in.Window.Duration = 365 * day }, "as long as the Activity Log lasts"},
		"negative settle age":    {func(in *Inputs) { in.SettleAge.Duration = -1 }, "settle age"},
		"settle age of a month":  {func(in *Inputs) { in.SettleAge.Duration = 31 * day }, "settle age"},
		"no budget":              {func(in *Inputs) { in.Budget.Duration = 0 }, "time budget"},
		"no time to drain":       {func(in *Inputs) { in.DrainDeadline.Duration = 0 }, "drain deadline"},
		"negative stand-in":      {func(in *Inputs) { in.StandInSize = -1 }, "stand-in size"},
		"stand-in of 1001 nodes": {func(in *Inputs) { in.StandInSize = 1001 }, "stand-in size"},
		"no subscription":        {func(in *Inputs) { in.Subscription = "" }, `subscription ""`},
		"malformed subscription": {func(in *Inputs) { in.Subscription = "prod" }, `subscription "prod"`},
		"a path as a cluster":    {func(in *Inputs) { in.Cluster = "../x" }, `cluster "../x"`},
		"a group with a slash":   {func(in *Inputs) { in.ResourceGroup = "a/b" }, `resource group "a/b"`},
		"pool in capitals":       {func(in *Inputs) { in.Pool = "System" }, `pool "System"`},
		"pool of 13 letters":     {func(in *Inputs) { in.Pool = "systemsystems" }, "systemsystems"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := inputs(row.edit).Validate(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if _, err := New(World{}, inputs(row.edit)); err == nil {
				t.Error("a runbook was made of them")
			}
		})
	}
	if err := inputs().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

// TestInputsInTheRecord: records of earlier versions are resumed with the same inputs.
func TestInputsInTheRecord(t *testing.T) {
	const want = `{"subscription":"` + subscription + `","resourceGroup":"fleet","cluster":"aks-1","pool":"system",` +
		`"failureThreshold":10,"window":"15m0s","settleAge":"30m0s","budget":"1h0m0s","drainDeadline":"5m0s","standInSize":0}`
	raw, err := json.Marshal(inputs())
	if err != nil || string(raw) != want {
		t.Errorf("written as %s, %v", raw, err)
	}
	var read Inputs
	if err := json.Unmarshal([]byte(want), &read); err != nil || read != inputs() {
		t.Errorf("read as %+v, %v", read, err)
	}
}

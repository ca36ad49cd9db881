package recreatepool

import (
	"errors"
	"strings"
	"testing"
	"time"

	"salve/azure"
	"salve/runbook"
)

const setID = "/subscriptions/" + subscription +
	"/resourceGroups/MC_fleet/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-11112222-vmss"

// wedgeOf is what is read of a pool with one scale set before anything of it is.
func wedgeOf(edit ...func(*Inputs)) wedge {
	w := wedge{reading: readingOfPools(), Sets: []azure.ScaleSet{{ID: setID, Name: "aks-system-11112222-vmss"}}}
	w.Inputs, w.Since, w.Failed = inputs(edit...), at(), map[string]bool{}
	return w
}

func once(in *Inputs) { in.Threshold = 1 }

func TestFailedWritesCount(t *testing.T) {
	type event = azure.Activity
	operation := func(name string) func(*event) { return func(e *event) { e.Operation = "Microsoft.Compute/" + name } }
	code := func(code string) func(*event) { return func(e *event) { e.ErrorCode = code } }
	for name, row := range map[string]struct {
		edit func(*event)
		want int
	}{
		"a failed write counts":                  {func(*event) {}, 1},
		"an event without identity counts not":   {func(e *event) { e.ID = "" }, 0},
		"operation in another case":              {func(e *event) { e.Operation = strings.ToUpper(e.Operation) }, 1},
		"resource in another case":               {func(e *event) { e.ResourceID = strings.ToLower(e.ResourceID) }, 1},
		"a delete":                               {operation("virtualMachineScaleSets/delete"), 0},
		"a child operation":                      {operation("virtualMachineScaleSets/virtualMachines/write"), 0},
		"a child resource":                       {func(e *event) { e.ResourceID += "/virtualMachines/3" }, 0},
		"a scale set whose name begins so":       {func(e *event) { e.ResourceID += "2" }, 0},
		"started is not failed":                  {func(e *event) { e.Status = "Started" }, 0},
		"status in other case is another status": {func(e *event) { e.Status = "failed" }, 0},
		"no error code":                          {code(""), 0},
		"quota":                                  {code("QuotaExceeded"), 0},
		"capacity":                               {code("AllocationFailed"), 0},
		"policy":                                 {code("RequestDisallowedByPolicy"), 0},
		"image pull":                             {code("VMExtensionProvisioningError"), 0},
		"before the window":                      {func(e *event) { e.At = at().Add(-time.Second) }, 0},
		"exactly at the window's beginning":      {func(e *event) { e.At = at() }, 1},
		"stamped by a clock ahead of ours":       {func(e *event) { e.At = at().Add(20 * time.Minute) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := event{ID: "e1", Operation: scaleSetWrite, Status: "Failed", ResourceID: setID, At: at().Add(time.Minute)}
			e.ErrorCode = "NetworkingInternalOperationError"
			row.edit(&e)
			w := wedgeOf()
			w.countWrite(e)
			w.countWrite(e) // a repeated event counts once
			if len(w.Failed) != row.want {
				t.Errorf("counted %d, want %d", len(w.Failed), row.want)
			}
			another := e
			another.ID += "2"
			if w.countWrite(another); row.want == 1 && len(w.Failed) != 2 {
				t.Errorf("two events counted %d times", len(w.Failed))
			}
		})
	}
}

func TestEmptyIPConfig(t *testing.T) {
	count := func(n int) *int { return &n }
	silent := azure.Interface{ID: "a", Machine: "m"}
	well := azure.Interface{ID: "b", Machine: "n", Configurations: count(1)}
	bare := azure.Interface{ID: "c", Machine: "o", Configurations: count(0)}
	for name, row := range map[string]struct {
		interfaces []azure.Interface
		want       expected
	}{
		"an explicit empty list":                {[]azure.Interface{bare}, holds},
		"one empty among many":                  {[]azure.Interface{well, bare}, holds},
		"empty beside one that says nothing":    {[]azure.Interface{silent, bare}, holds},
		"all have configurations":               {[]azure.Interface{well, well}, nothingToDo},
		"null or absent is not empty":           {[]azure.Interface{silent}, unknown},
		"one says nothing, the others are well": {[]azure.Interface{silent, well}, unknown},
		"an interface that no machine uses":     {[]azure.Interface{{ID: "d", Configurations: count(0)}}, unknown},
		"no interface at all is not «all well»": {nil, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := wedgeOf()
			for _, nic := range row.interfaces {
				w.countInterface(nic)
			}
			expectFinding(t, emptyIPConfig(w), row.want)
		})
	}
}

// TestOneProofIsEnough: what could not be read is no proof, and no proof of the contrary.
func TestOneProofIsEnough(t *testing.T) {
	blind := runbook.FailureOf(errors.New("403"))
	writes := func(w *wedge) { w.Failed["e1"] = true }
	few, noLog := func(*wedge) {}, func(w *wedge) { w.LogFailure = blind }
	empty, well := func(w *wedge) { w.Interfaces, w.Empty = 1, "c" }, func(w *wedge) { w.Interfaces = 3 }
	for name, row := range map[string]struct {
		writes, interfaces func(*wedge)
		want               expected
	}{
		"writes fail":                       {writes, few, holds},
		"an interface is empty":             {few, empty, holds},
		"no log, but an empty interface":    {noLog, empty, holds},
		"no log, and all interfaces well":   {noLog, well, unknown},
		"few writes, and no interfaces":     {few, func(w *wedge) { w.InterfacesFailure = blind }, unknown},
		"few writes, all interfaces well":   {few, well, nothingToDo},
		"no scale set is to be seen at all": {func(w *wedge) { w.Sets = nil }, writes, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := wedgeOf(once)
			row.writes(&w)
			row.interfaces(&w)
			expectFinding(t, wedgeEvidence(w), row.want)
		})
	}
}

func TestAnyOfThreeValues(t *testing.T) {
	yes, no, unseen := runbook.Yes("y"), runbook.No("n"), runbook.Unknownf("u")
	for _, row := range []struct {
		of   []runbook.Finding
		want runbook.Answer
	}{
		{[]runbook.Finding{yes, no}, runbook.AnswerHolds}, {[]runbook.Finding{no, yes}, runbook.AnswerHolds},
		{[]runbook.Finding{unseen, yes}, runbook.AnswerHolds}, {[]runbook.Finding{yes, unseen}, runbook.AnswerHolds},
		{[]runbook.Finding{no, unseen}, runbook.AnswerUnknown}, {[]runbook.Finding{unseen, no}, runbook.AnswerUnknown},
		{[]runbook.Finding{unseen, unseen}, runbook.AnswerUnknown}, {[]runbook.Finding{no, no}, runbook.AnswerDoesNotHold},
		{nil, runbook.AnswerUnknown},
	} {
		if got := runbook.Any(row.of...); got.Answer != row.want {
			t.Errorf("any of %v is %s, want %s", row.of, got.Answer, row.want)
		}
	}
}

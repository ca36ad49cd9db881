package recreatepool

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"salve/azure"
	"salve/runbook"
)

const (
	subscription = "5a1e0000-0000-4000-8000-000000000001"
	setID        = "/subscriptions/" + subscription + "/resourceGroups/MC_fleet/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-11112222-vmss"
)

func inputs(edit ...func(*Inputs)) Inputs {
	in := Defaults()
	in.Subscription, in.ResourceGroup, in.Cluster = subscription, "fleet", "aks-1"
	for _, change := range edit {
		change(&in)
	}
	return in
}

func expectFinding(t *testing.T, got runbook.Finding, answer runbook.Answer, ends runbook.Outcome) {
	t.Helper()
	if got.Answer != answer || got.Outcome != ends {
		t.Errorf("%s ending %q (%s), want %s ending %q", got.Answer, got.Outcome, got.Reason, answer, ends)
	}
}

func TestClusterRecoverable(t *testing.T) {
	for state, row := range map[string]struct {
		answer runbook.Answer
		ends   runbook.Outcome
	}{
		"Succeeded": {answer: runbook.AnswerHolds}, "Canceled": {answer: runbook.AnswerHolds},
		"Failed":   {answer: runbook.AnswerHolds},
		"Updating": {answer: runbook.AnswerHolds}, "Upgrading": {answer: runbook.AnswerHolds},
		"Creating": {answer: runbook.AnswerDoesNotHold, ends: runbook.Deferred},
		"Deleting": {answer: runbook.AnswerDoesNotHold}, "": {answer: runbook.AnswerDoesNotHold},
		"Hibernating": {answer: runbook.AnswerDoesNotHold}, "succeeded": {answer: runbook.AnswerDoesNotHold},
	} {
		t.Run("state "+state, func(t *testing.T) {
			expectFinding(t, clusterRecoverable(azure.Cluster{State: state}, "system"), row.answer, row.ends)
		})
	}
}

func TestPoolWedged(t *testing.T) {
	for state, row := range map[string]struct {
		answer runbook.Answer
		ends   runbook.Outcome
	}{
		"Failed": {answer: runbook.AnswerHolds}, "Canceled": {answer: runbook.AnswerHolds},
		"Updating": {answer: runbook.AnswerHolds}, "Upgrading": {answer: runbook.AnswerHolds},
		"Succeeded": {answer: runbook.AnswerDoesNotHold}, "Deleting": {answer: runbook.AnswerDoesNotHold},
		"":         {answer: runbook.AnswerDoesNotHold},
		"Creating": {answer: runbook.AnswerDoesNotHold, ends: runbook.Deferred},
		"Scaling":  {answer: runbook.AnswerDoesNotHold},
	} {
		t.Run("state "+state, func(t *testing.T) {
			cluster := azure.Cluster{Pools: []azure.Pool{{Name: "system", State: state}}}
			expectFinding(t, poolWedged(cluster, "system"), row.answer, row.ends)
		})
	}
}

func TestOtherPoolsServing(t *testing.T) {
	system := azure.Pool{Name: "system", Count: 3}
	workers := azure.Pool{Name: "workers", Count: 2}
	empty := azure.Pool{Name: "spot", Count: 0}
	standIn := azure.Pool{Name: "s1", Count: 0, Tags: map[string]string{"purpose": "salve-stand-in"}}
	for name, row := range map[string]struct {
		pools   []azure.Pool
		deleted bool
		answer  runbook.Answer
		ends    runbook.Outcome
		reason  string
	}{
		"the others have nodes": {pools: []azure.Pool{system, workers},
			answer: runbook.AnswerHolds},
		"the target is the only pool": {pools: []azure.Pool{system}, answer: runbook.AnswerHolds},
		"the target itself may be empty": {pools: []azure.Pool{{Name: "system"}, workers},
			answer: runbook.AnswerHolds},
		"another is empty: named": {pools: []azure.Pool{system, workers, empty},
			answer: runbook.AnswerDoesNotHold, reason: `"spot"`},
		"an empty stand-in does not count": {pools: []azure.Pool{system, workers, standIn},
			answer: runbook.AnswerHolds},
		"the target is missing": {pools: []azure.Pool{workers}, answer: runbook.AnswerDoesNotHold,
			ends: runbook.NeedsAttention, reason: "workers"},
		"a prefix of the target's name is not it": {pools: []azure.Pool{{Name: "system2", Count: 1}},
			answer: runbook.AnswerDoesNotHold, ends: runbook.NeedsAttention},
		"the target is missing because we deleted it": {pools: []azure.Pool{workers}, deleted: true,
			answer: runbook.AnswerHolds},
		"no pools at all is not «all of them have nodes»": {answer: runbook.AnswerDoesNotHold, ends: runbook.NeedsAttention},
	} {
		t.Run(name, func(t *testing.T) {
			got := otherPoolsServing(others{azure.Cluster{Pools: row.pools}, "system", row.deleted})
			expectFinding(t, got, row.answer, row.ends)
			if !strings.Contains(got.Reason, row.reason) {
				t.Errorf("the reason %q does not name %s", got.Reason, row.reason)
			}
		})
	}
}

func TestWriteStormCounts(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	message := func(text string) *string { return &text }
	storming := message(`{"error":{"code":"NetworkingInternalOperationError","message":"An error occurred."}}`)
	event := func(edit ...func(*azure.Activity)) azure.Activity {
		e := azure.Activity{ID: "e1", Operation: scaleSetWrite, Status: "Failed", ResourceID: setID,
			At: began.Add(time.Minute), StatusMessage: storming}
		for _, change := range edit {
			change(&e)
		}
		return e
	}
	for name, row := range map[string]struct {
		events []azure.Activity
		want   int
	}{
		"a failed write counts": {[]azure.Activity{event()}, 1},
		"two events count twice": {[]azure.Activity{event(), event(func(e *azure.Activity) { e.ID = "e2" })},
			2},
		"a repeated event counts once":         {[]azure.Activity{event(), event(), event()}, 1},
		"an event without identity counts not": {[]azure.Activity{event(func(e *azure.Activity) { e.ID = "" })}, 0},
		"operation in another case": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.Operation = strings.ToUpper(e.Operation)
		})}, 1},
		"resource in another case": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.ResourceID = strings.ToLower(e.ResourceID)
		})}, 1},
		"a delete": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.Operation = "Microsoft.Compute/virtualMachineScaleSets/delete"
		})}, 0},
		"a child operation": {[]azure.Activity{event(func(e *azure.Activity) {
			e.Operation = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write"
		})}, 0},
		"a child resource": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.ResourceID += "/virtualMachines/3"
		})}, 0},
		"a scale set whose name begins so": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.ResourceID += "2"
		})}, 0},
		"started is not failed": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.Status = "Started"
		})}, 0},
		"status in another case is another status": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.Status = "failed"
		})}, 0},
		"no message": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.StatusMessage = nil
		})}, 0},
		"an empty message": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.StatusMessage = message("")
		})}, 0},
		"a message that is no JSON": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.StatusMessage = message("NetworkingInternalOperationError")
		})}, 0},
		"a message of another shape": {[]azure.Activity{event(func(
			e *azure.Activity) {
			e.StatusMessage = message(`{"error":"NetworkingInternalOperationError"}`)
		})}, 0},
		"the code in the text only": {[]azure.Activity{event(func(e *azure.Activity) {
			e.StatusMessage = message(`{"error":{"code":"Conflict","message":"NetworkingInternalOperationError"}}`)
		})}, 0},
		"quota": {[]azure.Activity{event(func(e *azure.Activity) {
			e.StatusMessage = message(
				`{"error":{"code":"QuotaExceeded"}}`)
		})}, 0},
		"capacity": {[]azure.Activity{event(func(e *azure.Activity) {
			e.StatusMessage = message(
				`{"error":{"code":"AllocationFailed"}}`)
		})}, 0},
		"policy": {[]azure.Activity{event(func(e *azure.Activity) {
			e.StatusMessage = message(
				`{"error":{"code":"RequestDisallowedByPolicy"}}`)
		})}, 0},
		"image pull": {[]azure.Activity{event(func(e *azure.Activity) {
			e.StatusMessage = message(`{"error":{"code":"VMExtensionProvisioningError"}}`)
		})}, 0},
		"before the window": {[]azure.Activity{event(func(e *azure.Activity) {
			e.At = began.Add(
				-time.Second)
		})}, 0},
		"exactly at the window's beginning": {[]azure.Activity{event(func(e *azure.Activity) { e.At = began })}, 1},
		"stamped by a clock ahead of ours": {[]azure.Activity{event(func(e *azure.Activity) {
			e.At = began.Add(
				20 * time.Minute)
		})}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			storm := newStorm(began, []azure.ScaleSet{{ID: setID, Name: "aks-system-11112222-vmss"}}, 1)
			for _, e := range row.events {
				storm.count(e)
			}
			if len(storm.failed) != row.want {
				t.Errorf("counted %d, want %d", len(storm.failed), row.want)
			}
		})
	}
}

func TestEmptyIPConfig(t *testing.T) {
	count := func(n int) *int { return &n }
	for name, row := range map[string]struct {
		interfaces []azure.Interface
		want       runbook.Answer
	}{
		"an explicit empty list": {[]azure.Interface{{ID: "a", Machine: "m", Configurations: count(0)}},
			runbook.AnswerHolds},
		"one empty among many": {[]azure.Interface{{Machine: "m", Configurations: count(1)}, {ID: "b",
			Machine: "n", Configurations: count(0)}}, runbook.AnswerHolds},
		"empty beside one that says nothing": {[]azure.Interface{{Machine: "m"}, {ID: "b", Machine: "n",
			Configurations: count(0)}}, runbook.AnswerHolds},
		"all have configurations": {[]azure.Interface{{Machine: "m", Configurations: count(1)}, {Machine: "n",
			Configurations: count(2)}}, runbook.AnswerDoesNotHold},
		"null or absent is not empty": {[]azure.Interface{{Machine: "m"}}, runbook.AnswerUnknown},
		"one says nothing, the others are well": {[]azure.Interface{{Machine: "m"}, {Machine: "n",
			Configurations: count(1)}}, runbook.AnswerUnknown},
		"an interface that no machine uses": {[]azure.Interface{{ID: "a", Configurations: count(0)}},
			runbook.AnswerUnknown},
		"no interface at all is not «all well»": {nil, runbook.AnswerUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			var seen interfaces
			for _, nic := range row.interfaces {
				seen.count(nic)
			}
			expectFinding(t, emptyIPConfig(wedge{interfaces: &seen}), row.want, "")
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

func TestOperationAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		began  time.Time
		answer runbook.Answer
		ends   runbook.Outcome
	}{
		"three days old":           {now.Add(-72 * time.Hour), runbook.AnswerHolds, ""},
		"exactly the settle age":   {now.Add(-30 * time.Minute), runbook.AnswerHolds, ""},
		"a second younger":         {now.Add(-30*time.Minute + time.Second), runbook.AnswerDoesNotHold, runbook.Deferred},
		"in the future, by a skew": {now.Add(time.Minute), runbook.AnswerDoesNotHold, runbook.Deferred},
		"never seen":               {time.Time{}, runbook.AnswerUnknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			expectFinding(t, running{start: row.began, now: now, settleAge: 30 * time.Minute}.old(), row.answer, row.ends)
		})
	}
}

func TestLeftovers(t *testing.T) {
	in := inputs()
	name := standInName(in.poolID(), "")
	tagged := func(edit ...func(map[string]string)) azure.Pool {
		tags := map[string]string{"purpose": "salve-stand-in", "salve-source": in.poolID(), "salve-run": "run-0"}
		for _, change := range edit {
			change(tags)
		}
		return azure.Pool{Name: name, State: "Succeeded", Tags: tags}
	}
	source := func(state string) azure.Pool { return azure.Pool{Name: "system", State: state, Count: 3} }
	for what, row := range map[string]struct {
		pools  []azure.Pool
		answer runbook.Answer
		ends   runbook.Outcome
	}{
		"the source is Succeeded: remove": {[]azure.Pool{source("Succeeded"), tagged()}, runbook.AnswerHolds, ""},
		"the source is Failed: remove":    {[]azure.Pool{source("Failed"), tagged()}, runbook.AnswerHolds, ""},
		"the source is Canceled: remove":  {[]azure.Pool{source("Canceled"), tagged()}, runbook.AnswerHolds, ""},
		"the source is Updating: not now": {[]azure.Pool{source("Updating"), tagged()}, runbook.AnswerDoesNotHold,
			runbook.Deferred},
		"the source is Upgrading: not now": {[]azure.Pool{source("Upgrading"), tagged()}, runbook.AnswerDoesNotHold,
			runbook.Deferred},
		"the source is missing: never guess": {[]azure.Pool{tagged()}, runbook.AnswerDoesNotHold,
			runbook.NeedsAttention},
		"the source is in an unseen state": {[]azure.Pool{source("Hibernating"), tagged()},
			runbook.AnswerDoesNotHold, runbook.NeedsAttention},
		"the stand-in is of this very run": {[]azure.Pool{source("Updating"),
			tagged(func(tags map[string]string) { tags["salve-run"] = "run-1" })}, runbook.AnswerHolds, ""},
		"no run in the tags": {[]azure.Pool{source("Failed"),
			tagged(func(tags map[string]string) { delete(tags, "salve-run") })}, runbook.AnswerDoesNotHold,
			runbook.NeedsAttention},
		"no purpose in the tags": {[]azure.Pool{source("Failed"),
			tagged(func(tags map[string]string) { delete(tags, "purpose") })}, runbook.AnswerDoesNotHold,
			runbook.NeedsAttention},
		"another source in the tags": {[]azure.Pool{source("Failed"),
			tagged(func(tags map[string]string) { tags["salve-source"] += "2" })}, runbook.AnswerDoesNotHold,
			runbook.NeedsAttention},
		"a source that is no pool of this cluster": {[]azure.Pool{source("Failed"), {Name: "s4",
			Tags: map[string]string{"purpose": "salve-stand-in", "salve-source": "nonsense", "salve-run": "run-0"}}},
			runbook.AnswerDoesNotHold, runbook.NeedsAttention},
		"no tags at all, only the name": {[]azure.Pool{source("Failed"), {Name: name}}, runbook.AnswerDoesNotHold,
			runbook.NeedsAttention},
		"the source in the tags in other case": {[]azure.Pool{source("Failed"),
			tagged(func(tags map[string]string) { tags["salve-source"] = strings.ToUpper(tags["salve-source"]) })},
			runbook.AnswerHolds, ""},
	} {
		t.Run(what, func(t *testing.T) {
			cluster := azure.Cluster{ID: in.clusterID(), Pools: row.pools}
			pool, found := leftover(cluster, in)
			if !found {
				t.Fatal("the stand-in was not found")
			}
			seen := foundStandIn{Inputs: in, cluster: cluster, pool: pool, found: true, run: "run-1"}
			expectFinding(t, leftoversKnown(seen), row.answer, row.ends)
		})
	}
	if _, found := leftover(azure.Cluster{Pools: []azure.Pool{source("Failed"), {Name: "s4",
		Tags: map[string]string{"purpose": "salve-stand-in", "salve-source": azure.PoolID(in.clusterID(), "workers")}}}},
		in); found {
		t.Error("the stand-in of another pool was taken for this one's")
	}
}

func TestStandInNameIsValidAndTheSame(t *testing.T) {
	rule := regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
	seen := map[string]bool{}
	for i := range 2000 {
		id := fmt.Sprintf("/subscriptions/%s/resourceGroups/rg-%d/providers/Microsoft.ContainerService/managedClusters/c/agentPools/system", subscription, i)
		name, windows := standInName(id, "Linux"), standInName(id, "Windows")
		if !rule.MatchString(name) || !rule.MatchString(windows) || len(windows) > 6 {
			t.Fatalf("names %q and %q", name, windows)
		}
		if name != standInName(strings.ToUpper(id), "linux") {
			t.Fatalf("the case of the ID changes the name %q", name)
		}
		if seen[name] {
			t.Fatalf("%q twice", name)
		}
		seen[name] = true
	}
}

func TestInputsThatCannotBeMeant(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*Inputs)
		want string
	}{
		"zero threshold":     {func(in *Inputs) { in.Threshold = 0 }, "failure threshold 0"},
		"negative threshold": {func(in *Inputs) { in.Threshold = -3 }, "failure threshold -3"},
		"negative window":    {func(in *Inputs) { in.Window = -1 }, "window"},
		"window of a year": {func(in *Inputs) { in.Window = Duration(365 * 24 * time.Hour) },
			"as long as the Activity Log lasts"},
		"negative settle age":    {func(in *Inputs) { in.SettleAge = -1 }, "settle age"},
		"no budget":              {func(in *Inputs) { in.Budget = 0 }, "time budget"},
		"negative stand-in":      {func(in *Inputs) { in.StandInSize = -1 }, "stand-in size"},
		"no subscription":        {func(in *Inputs) { in.Subscription = "" }, "subscription is missing"},
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
		})
	}
	if err := inputs().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

func TestPoolsOfRole(t *testing.T) {
	cluster := azure.Cluster{Pools: []azure.Pool{
		{Name: "a", Labels: map[string]string{RoleKey: "infra"}}, {Name: "b", Tags: map[string]string{RoleKey: "infra"}},
		{Name: "c", Labels: map[string]string{RoleKey: "infra2"}}, {Name: "d"},
		{Name: "e", Labels: map[string]string{RoleKey: "infra"}, Tags: map[string]string{"purpose": "salve-stand-in"}},
	}}
	if got := fmt.Sprint(PoolsOfRole(cluster, "infra")); got != "[a b]" {
		t.Errorf("got %s", got)
	}
	if got := PoolsOfRole(cluster, ""); got != nil {
		t.Errorf("an empty role selected %v", got)
	}
}

package azuresim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/monitor/armmonitor"
)

func (a *azure) queryEvents(t *testing.T, filter string) (events []*armmonitor.EventData, pages int, err error) {
	t.Helper()
	client, err := armmonitor.NewActivityLogsClient(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
	if err != nil {
		t.Fatal(err)
	}
	for pager := client.NewListPager(filter, nil); pager.More(); pages++ {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			return nil, pages, err
		}
		events = append(events, page.Value...)
	}
	return events, pages, nil
}

// events lists the node resource group's events since from.
func (a *azure) events(t *testing.T, from time.Time) []*armmonitor.EventData {
	t.Helper()
	filter := fmt.Sprintf("eventTimestamp ge '%s' and eventTimestamp le '%s' and "+
		"resourceGroupName eq 'mc_fleet_AKS-1_westeurope'",
		from.UTC().Format(time.RFC3339Nano), time.Now().UTC().Format(time.RFC3339Nano))
	events, _, err := a.queryEvents(t, filter)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// failedWrites counts distinct failed writes of a scale set as the guard of the runbook does.
func failedWrites(events []*armmonitor.EventData) int {
	distinct := map[string]bool{}
	for _, event := range events {
		var message struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		text := event.Properties["statusMessage"]
		if text == nil || json.Unmarshal([]byte(*text), &message) != nil {
			continue
		}
		if *event.Status.Value == "Failed" && message.Error.Code == "NetworkingInternalOperationError" &&
			strings.EqualFold(*event.OperationName.Value, "Microsoft.Compute/virtualMachineScaleSets/write") {
			distinct[*event.EventDataID] = true
		}
	}
	return len(distinct)
}

func TestFailedWritesBeforeTheStartAreInTheLog(t *testing.T) {
	for name, want := range map[string]int{"wedged": 18, "stuck-operation": 18, "healthy": 0} {
		inWorld(t, builtIn(t, name), func(t *testing.T, a *azure) {
			events := a.events(t, a.start.Add(-15*time.Minute))
			if got := failedWrites(events); got != want {
				t.Errorf("%s: %d failed writes in the last 15 minutes, want %d", name, got, want)
			}
			if len(events) <= want {
				t.Errorf("%s: nothing but the failed writes", name)
			}
		})
	}
}

func TestFailedWritesGoOnUntilTheOperationIsAborted(t *testing.T) {
	inWorld(t, builtIn(t, "stuck-operation"), func(t *testing.T, a *azure) {
		time.Sleep(10 * time.Minute)
		if got := failedWrites(a.events(t, a.start)); got < 11 || got > 13 {
			t.Fatalf("%d failed writes in 10 minutes, of which the last 90 seconds are not readable yet; want about 12", got)
		}
		a.abort(t)
		aborted := time.Now()
		time.Sleep(10 * time.Minute)
		if got := failedWrites(a.events(t, aborted)); got != 0 {
			t.Fatalf("%d failed writes after the abort, want none", got)
		}
	})
}

func TestAnEventIsReadableOnlyAfterTheLag(t *testing.T) {
	scenario := parsed(t, "activityLog: {lag: 3m, quiet: true}\npools:\n"+
		"  - {name: system, mode: System, corrupted: true, failedWrites: {events: 1, last: 0s}}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		for minute, want := range []int{0, 0, 0, 1} {
			if got := failedWrites(a.events(t, a.start.Add(-time.Minute))); got != want {
				t.Fatalf("after %d minutes %d events, want %d", minute, got, want)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestPagesOfOneQueryHoldEveryEventOnce(t *testing.T) {
	scenario := parsed(t, "activityLog: {pageSize: 7, lag: 1s}\npools:\n"+
		"  - {name: system, mode: System, corrupted: true, failedWrites: {events: 40, last: 10s}}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		filter := fmt.Sprintf("eventTimestamp ge '%s'", a.start.Add(-time.Hour).UTC().Format(time.RFC3339))
		events, pages, err := a.queryEvents(t, filter)
		if err != nil {
			t.Fatal(err)
		}
		if pages < 10 || failedWrites(events) != 40 {
			t.Fatalf("%d of 40 failed writes on %d pages", failedWrites(events), pages)
		}
		repeated := map[string]int{}
		for i, event := range events {
			repeated[*event.EventDataID]++
			if i > 0 && event.EventTimestamp.After(*events[i-1].EventTimestamp) {
				t.Fatal("the events are not newest first")
			}
		}
		if len(repeated) == len(events) {
			t.Fatal("the log repeats no event, as the real one does")
		}
	})
}

func TestTheLogRefusesFiltersThatItDoesNotKnow(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		for _, filter := range []string{
			"", "resourceGroupName eq 'fleet'", "eventTimestamp ge 'yesterday'",
			"eventTimestamp ge '2026-01-01T00:00:00Z' or status eq 'Failed'", "eventTimestamp ge '1999-01-01T00:00:00Z'",
		} {
			_, _, err := a.queryEvents(t, filter)
			wantError(t, err, http.StatusBadRequest, "BadRequest")
		}
	})
}

func TestTheClustersOwnWritesTellHowOldItsOperationIs(t *testing.T) {
	inWorld(t, builtIn(t, "stuck-operation"), func(t *testing.T, a *azure) {
		filter := fmt.Sprintf("eventTimestamp ge '%s' and resourceUri eq '%s'",
			a.start.Add(-14*24*time.Hour).UTC().Format(time.RFC3339), *a.cluster(t).ID)
		events, _, err := a.queryEvents(t, filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			if *event.Status.Value == "Started" &&
				*event.OperationName.Value == "Microsoft.ContainerService/managedClusters/write" {
				if age := a.start.Sub(*event.EventTimestamp); age != 72*time.Hour {
					t.Fatalf("the latest write began %s ago, want 72h", age)
				}
				return
			}
		}
		t.Fatal("no write of the cluster in the log")
	})
}

func TestTheLogIsForbiddenUntilTheRoleHasSpread(t *testing.T) {
	inWorld(t, builtIn(t, "rbac-lag"), func(t *testing.T, a *azure) {
		filter := fmt.Sprintf("eventTimestamp ge '%s'", a.start.Add(-time.Hour).UTC().Format(time.RFC3339))
		_, _, err := a.queryEvents(t, filter)
		wantError(t, err, http.StatusForbidden, "AuthorizationFailed")
		time.Sleep(3 * time.Minute)
		if _, _, err := a.queryEvents(t, filter); err != nil {
			t.Fatal(err)
		}
	})
}

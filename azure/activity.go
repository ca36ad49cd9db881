package azure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/monitor/armmonitor"
)

// ActivityQuery says which part of the Activity Log is read.
type ActivityQuery struct {
	From, To time.Time
	// Of is a resource group's name, or a resource's ID, which begins with "/".
	Of string
}

// filter is in ARM's own language
// (https://learn.microsoft.com/rest/api/monitor/activity-logs/list).
func (q ActivityQuery) filter() string {
	what := "resourceGroupName"
	if strings.HasPrefix(q.Of, "/") {
		what = "resourceUri"
	}
	return fmt.Sprintf("eventTimestamp ge '%s' and eventTimestamp le '%s' and %s eq '%s'",
		q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339), what, q.Of)
}

// Activity is one event of the Activity Log, as far as runbooks ask.
type Activity struct {
	// ID identifies the event; the log may repeat it.
	ID string
	// Operation and Status are ARM's names, such as
	// Microsoft.Compute/virtualMachineScaleSets/write and Failed.
	Operation, Status string
	ResourceID        string
	At                time.Time
	// StatusMessage is a text that holds JSON; nil when the event has none.
	StatusMessage *string
}

// activityFields are the only ones that are asked for: the log is long.
var activityFields = "eventDataId,eventTimestamp,operationName,properties,resourceId,status"

// ReadActivity streams events, page by page, until visit says to stop or the log
// is at its end. The log lags by minutes: what is not there may still come.
func (c *Client) ReadActivity(ctx context.Context, query ActivityQuery, visit func(Activity) (more bool)) error {
	logs, err := armmonitor.NewActivityLogsClient(c.subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	begin := func() *runtime.Pager[armmonitor.ActivityLogsClientListResponse] {
		return logs.NewListPager(query.filter(), &armmonitor.ActivityLogsClientListOptions{Select: &activityFields})
	}
	link := func(page armmonitor.ActivityLogsClientListResponse) *string { return page.NextLink }
	return pages(ctx, c, fmt.Sprintf("reading the Activity Log of %s", query.Of), begin, link, func(page armmonitor.ActivityLogsClientListResponse) bool {
		for _, event := range page.Value {
			if event != nil && !visit(activityOf(event)) {
				return false
			}
		}
		return true
	})
}

func activityOf(event *armmonitor.EventData) Activity {
	activity := Activity{
		ID: value(event.EventDataID), ResourceID: value(event.ResourceID), At: value(event.EventTimestamp),
		StatusMessage: event.Properties["statusMessage"],
	}
	if event.OperationName != nil {
		activity.Operation = value(event.OperationName.Value)
	}
	if event.Status != nil {
		activity.Status = value(event.Status.Value)
	}
	return activity
}

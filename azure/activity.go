package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
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
	field := "resourceGroupName"
	if strings.HasPrefix(q.Of, "/") {
		field = "resourceUri"
	}
	return fmt.Sprintf("eventTimestamp ge '%s' and eventTimestamp le '%s' and %s eq '%s'",
		q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339), field, strings.ReplaceAll(q.Of, "'", "''"))
}

// Activity is one event of the Activity Log, as far as runbooks ask.
type Activity struct {
	// ID identifies the event; the log may repeat it.
	ID string
	// Operation and Status are ARM's names, such as
	// Microsoft.Compute/virtualMachineScaleSets/write and Failed.
	Operation, Status string
	// OperationID is the same in all events of one operation: its start, its acceptance and its end.
	OperationID string
	ResourceID  string
	At          time.Time
	// ErrorCode is that of the event's status message; empty when it has none.
	ErrorCode string
}

// https://learn.microsoft.com/rest/api/monitor/activity-logs/list
const activityVersion = "2015-04-01"

// activityFields are the only ones that are asked for: the log is long.
const activityFields = "eventDataId,eventTimestamp,operationId,operationName,properties,resourceId,status"

// ReadActivity streams events, page by page, until visit says to stop or the log
// is at its end. The log lags by minutes: what is not there may still come.
func (c *Client) ReadActivity(ctx context.Context, query ActivityQuery, visit func(Activity) (more bool)) error {
	path := SubscriptionScope(c.subscription) + "/providers/Microsoft.Insights/eventtypes/management/values"
	address := c.address(path, activityVersion, url.Values{"$filter": {query.filter()}, "$select": {activityFields}})
	doing := fmt.Sprintf("reading the Activity Log of %s", query.Of)
	return list(ctx, c, doing, address, func(event event) (bool, error) { return visit(event.activity()), nil })
}

// event is an event as ARM writes it.
type event struct {
	EventDataID    string             `json:"eventDataId"`
	ResourceID     string             `json:"resourceId"`
	EventTimestamp time.Time          `json:"eventTimestamp"`
	OperationID    string             `json:"operationId"`
	OperationName  named              `json:"operationName"`
	Status         named              `json:"status"`
	Properties     map[string]*string `json:"properties"`
}

type named struct {
	Value string `json:"value"`
}

func (e event) activity() Activity {
	return Activity{
		ID: e.EventDataID, Operation: e.OperationName.Value, Status: e.Status.Value, ResourceID: e.ResourceID,
		OperationID: e.OperationID, At: e.EventTimestamp, ErrorCode: errorCode(value(e.Properties["statusMessage"])),
	}
}

// errorCode reads error.code out of a status message, which is a text that holds JSON.
func errorCode(message string) string {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(message), &body) != nil {
		return ""
	}
	return body.Error.Code
}

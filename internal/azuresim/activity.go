package azuresim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// activityLog is the Activity Log, kept in order of event time. An event can be read only after the log's lag.
type activityLog struct {
	lag     time.Duration
	names   *seeded
	entries []logEntry
}

type logEntry struct {
	at          time.Time
	visible     time.Time
	id          string
	correlation string
	operationID string
	operation   string
	status      string
	subStatus   string
	level       string
	caller      string
	resource    string
	group       string
	properties  map[string]string
}

const (
	clusterWrite  = "Microsoft.ContainerService/managedClusters/write"
	clusterAbort  = "Microsoft.ContainerService/managedClusters/abort/action"
	poolWrite     = "Microsoft.ContainerService/managedClusters/agentPools/write"
	poolDelete    = "Microsoft.ContainerService/managedClusters/agentPools/delete"
	scaleSetWrite = "Microsoft.Compute/virtualMachineScaleSets/write"

	statusStarted   = "Started"
	statusAccepted  = "Accepted"
	statusSucceeded = "Succeeded"
	statusFailed    = "Failed"

	callerAKS    = "9b1c5a0e-0000-4000-8000-0000000000a5"
	callerPerson = "operator@example.com"
)

// add enters an event; missing identifiers are made up. Events of the past are put where they belong.
func (l *activityLog) add(e logEntry) {
	if e.id == "" {
		e.id = l.names.uuid("event " + e.status + " of " + e.operation + " on " + e.resource)
	}
	if e.correlation == "" {
		e.correlation = l.names.uuid("correlation on " + e.resource)
	}
	if e.operationID == "" {
		e.operationID = e.correlation
	}
	if e.visible.IsZero() {
		e.visible = e.at.Add(l.lag)
	}
	if e.level == "" {
		e.level = "Informational"
	}
	if e.status == statusFailed {
		e.level = "Error"
	}
	place := len(l.entries)
	for place > 0 && l.entries[place-1].at.After(e.at) {
		place--
	}
	l.entries = slices.Insert(l.entries, place, e)
}

// operationName is how the log calls an operation.
func operationName(op *operation) string {
	switch {
	case op.Kind == kindAbort:
		return clusterAbort
	case op.pool == nil:
		return clusterWrite
	case op.Kind == kindDelete:
		return poolDelete
	}
	return poolWrite
}

func (l *activityLog) operationStarted(m *model, op *operation) {
	for _, status := range []string{statusStarted, statusAccepted} {
		l.add(l.ofOperation(m, op, status, m.time.now))
	}
}

func (l *activityLog) operationEnded(m *model, op *operation) {
	status := statusSucceeded
	if op.Result != stateSucceeded {
		status = statusFailed
	}
	l.add(l.ofOperation(m, op, status, m.time.now))
}

func (l *activityLog) ofOperation(m *model, op *operation, status string, at time.Time) logEntry {
	e := logEntry{
		at: at, correlation: op.correlation, operationID: op.ID, operation: operationName(op), status: status,
		resource: op.Resource, group: m.scenario.ResourceGroup, caller: callerPerson,
		properties: map[string]string{"eventCategory": "Administrative", "entity": op.Resource, "message": operationName(op)},
	}
	if op.By == byAKS {
		e.caller = callerAKS
	}
	if status == statusAccepted {
		e.subStatus = "Created"
	}
	if op.failure != nil {
		e.properties["statusCode"] = "Conflict"
		e.properties["statusMessage"] = statusMessage(op.failure.Code, op.failure.Message)
	}
	return e
}

func (l *activityLog) ofScaleSet(m *model, set *scaleSet, operation, status string) logEntry {
	id := m.scaleSetID(set.name)
	return logEntry{
		at: m.time.now, operation: operation, status: status, resource: id, group: m.nodeGroup(), caller: callerAKS,
		properties: map[string]string{"eventCategory": "Administrative", "entity": id, "message": operation},
	}
}

func (l *activityLog) scaleSetWritten(m *model, set *scaleSet) {
	l.add(l.ofScaleSet(m, set, scaleSetWrite, statusSucceeded))
}

func (l *activityLog) scaleSetDeleted(m *model, set *scaleSet) {
	l.add(l.ofScaleSet(m, set, "Microsoft.Compute/virtualMachineScaleSets/delete", statusSucceeded))
}

// writeFailed enters one failed attempt to write a corrupted scale set. Every fifth is listed twice, as the log
// sometimes does; every third has its ID in the case that the log prefers.
func (l *activityLog) writeFailed(m *model, set *scaleSet, at time.Time) {
	nth := m.names.next("failed writes of " + set.name)
	e := l.ofScaleSet(m, set, scaleSetWrite, statusStarted)
	e.at = at
	e.correlation = l.names.uuid("attempt on " + set.name)
	l.add(e)

	e.status, e.subStatus = statusFailed, "Conflict"
	e.id = l.names.uuid("failed write of " + set.name)
	e.properties = map[string]string{
		"eventCategory": "Administrative", "entity": e.resource, "message": e.operation, "statusCode": "Conflict",
		"statusMessage": statusMessage(corruptionCode, "An unexpected error occurred while processing the network profile "+
			"of the VM scale set. Retry later."),
	}
	if nth%3 == 0 {
		e.resource = shouting(e.resource, m.nodeGroup())
		e.operation = strings.ToUpper(e.operation)
	}
	l.add(e)
	if nth%5 == 0 {
		e.visible = at.Add(l.lag + 20*time.Second)
		l.add(e)
	}
}

func shouting(id, group string) string {
	id = strings.Replace(id, group, strings.ToUpper(group), 1)
	return strings.Replace(id, "Microsoft.Compute", "microsoft.compute", 1)
}

// noise enters what resembles failed writes of the scale set and is none of them: other operations, other codes,
// unreadable messages.
func (l *activityLog) noise(m *model, set *scaleSet) {
	quota := statusMessage("OperationNotAllowed",
		"Operation could not be completed as it results in exceeding approved cores quota.")
	corrupted := statusMessage(corruptionCode, "An unexpected error occurred.")
	for i, n := range []struct{ suffix, operation, message string }{
		{"", scaleSetWrite, quota},
		{"/virtualMachines/0", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write", corrupted},
		{"/virtualMachines/1", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write", corrupted},
		{"", "Microsoft.Compute/virtualMachineScaleSets/delete", corrupted},
		{"", scaleSetWrite, "{not json"},
		{"", scaleSetWrite, ""},
		{"/extensions/vmssCSE", "Microsoft.Compute/virtualMachineScaleSets/extensions/write", corrupted},
		{"", scaleSetWrite, statusMessage("AllocationFailed", "Allocation failed.")},
	} {
		e := l.ofScaleSet(m, set, n.operation, statusFailed)
		e.at = m.started.Add(-time.Duration(i+1) * 97 * time.Second)
		e.resource += n.suffix
		if n.message != "" {
			e.properties["statusMessage"] = n.message
		}
		l.add(e)
	}
}

// logFilter selects events. Empty texts select everything.
type logFilter struct {
	from, to                               time.Time
	group, resource, provider, correlation string
}

func (f logFilter) wants(e logEntry) bool {
	return !e.at.Before(f.from) && (f.to.IsZero() || !e.at.After(f.to)) &&
		(f.group == "" || strings.EqualFold(f.group, e.group)) &&
		(f.resource == "" || strings.EqualFold(f.resource, e.resource)) &&
		(f.provider == "" || strings.EqualFold(f.provider, e.provider())) &&
		(f.correlation == "" || strings.EqualFold(f.correlation, e.correlation))
}

func (e logEntry) provider() string {
	provider, _, _ := strings.Cut(e.operation, "/")
	return provider
}

// page returns up to size events that were readable at asOf, newest first, from position down; and the position of the
// next page, negative when this is the last. A negative start is the newest event.
func (l *activityLog) page(filter logFilter, asOf time.Time, start, size int) (page []logEntry, next int) {
	if start < 0 || start >= len(l.entries) {
		start = len(l.entries) - 1
	}
	for i := start; i >= 0; i-- {
		e := l.entries[i]
		if e.at.Before(filter.from) {
			break
		}
		if e.visible.After(asOf) || !filter.wants(e) {
			continue
		}
		if len(page) == size {
			return page, i
		}
		page = append(page, e)
	}
	return page, -1
}

// ticks is a time in .NET's unit, 100 ns since the year 1.
func ticks(t time.Time) int64 { return t.UnixNano()/100 + 621355968000000000 }

// json is the event as the Activity Log shows it.
func (e logEntry) json(subscription string) map[string]any {
	text := func(value string) map[string]string {
		return map[string]string{"value": value, "localizedValue": value}
	}
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }
	return map[string]any{
		"id":                   fmt.Sprintf("%s/events/%s/ticks/%d", e.resource, e.id, ticks(e.at)),
		"eventDataId":          e.id,
		"correlationId":        e.correlation,
		"operationId":          e.operationID,
		"operationName":        text(e.operation),
		"status":               text(e.status),
		"subStatus":            text(e.subStatus),
		"level":                e.level,
		"caller":               e.caller,
		"resourceId":           e.resource,
		"resourceGroupName":    e.group,
		"resourceProviderName": text(e.provider()),
		"category":             text("Administrative"),
		"eventName":            text(map[bool]string{true: "BeginRequest", false: "EndRequest"}[e.status == statusStarted]),
		"authorization":        map[string]string{"action": e.operation, "scope": e.resource},
		"eventTimestamp":       stamp(e.at),
		"submissionTimestamp":  stamp(e.visible),
		"subscriptionId":       subscription,
		"tenantId":             tenant,
		"description":          "",
		"properties":           e.properties,
	}
}

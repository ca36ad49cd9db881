package azuresim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// retention is how far back the Activity Log can be asked.
const retention = 90 * 24 * time.Hour

// listEvents answers a query of the Activity Log, newest first. The pages of one query show the log as it was readable
// at the first of them.
func listEvents(w *World, asked *request) answer {
	filter, err := parseLogFilter(asked.ask("$filter"))
	if err != nil {
		return armError(http.StatusBadRequest, "BadRequest", err.Error())
	}
	now := w.time.now
	if filter.from.Before(now.Add(-retention)) {
		return armError(http.StatusBadRequest, "BadRequest", "The start time cannot be more than 90 days in the past.")
	}
	fields, err := parseSelect(asked.ask("$select"))
	if err != nil {
		return armError(http.StatusBadRequest, "BadRequest", err.Error())
	}
	asOf, start := now, -1
	if token := asked.ask(skipToken); token != "" {
		if asOf, start, err = readLogToken(token); err != nil {
			return armError(http.StatusBadRequest, "BadRequest", err.Error())
		}
	}
	page, next := w.model.log.page(filter, asOf, start, w.scenario.Log.PageSize)
	value := make([]any, 0, len(page))
	for _, e := range page {
		value = append(value, chosen(e.json(w.scenario.Subscription), fields))
	}
	body := map[string]any{"value": value}
	if next >= 0 {
		path := fmt.Sprintf("/subscriptions/%s/providers/microsoft.insights/eventtypes/management/values",
			w.scenario.Subscription)
		body["nextLink"] = w.nextLink(asked, path, fmt.Sprintf("%d.%d", asOf.UnixNano(), next))
	}
	return ok(body)
}

// selectable are the properties that $select can name.
// https://learn.microsoft.com/rest/api/monitor/activity-logs/list
func selectable() []string {
	return []string{
		"authorization", "claims", "correlationId", "description", "eventDataId", "eventName", "eventTimestamp",
		"httpRequest",
		"level", "operationId", "operationName", "properties", "resourceGroupName", "resourceProviderName", "resourceId",
		"status", "submissionTimestamp", "subStatus", "subscriptionId",
	}
}

// parseSelect gives the properties that are asked for; nil are all of them.
func parseSelect(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var fields []string
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(selectable(), func(known string) bool { return strings.EqualFold(known, name) })
		if i < 0 {
			return nil, fmt.Errorf("invalid $select: '%s' is not a property of events", name)
		}
		fields = append(fields, selectable()[i])
	}
	return fields, nil
}

func chosen(event map[string]any, fields []string) map[string]any {
	if fields == nil {
		return event
	}
	shown := map[string]any{}
	for _, name := range fields {
		if value, has := event[name]; has {
			shown[name] = value
		}
	}
	return shown
}

func readLogToken(token string) (asOf time.Time, start int, err error) {
	moment, position, _ := strings.Cut(token, ".")
	nanoseconds, err := strconv.ParseInt(moment, 10, 64)
	if err == nil {
		start, err = strconv.Atoi(position)
	}
	if err != nil || start < 0 {
		return time.Time{}, 0, fmt.Errorf("the skip token '%s' is invalid", token)
	}
	return time.Unix(0, nanoseconds), start, nil
}

var (
	logClause = regexp.MustCompile(`^(\w+) (eq|ge|le) '([^']*)'$`)
	logAnd    = regexp.MustCompile(`(?i)\s+and\s+`)
)

// parseLogFilter reads the few forms of $filter that the Activity Log knows.
func parseLogFilter(text string) (logFilter, error) {
	var filter logFilter
	for _, clause := range logAnd.Split(strings.TrimSpace(text), -1) {
		parts := logClause.FindStringSubmatch(strings.TrimSpace(clause))
		if parts == nil {
			return filter, fmt.Errorf("invalid $filter: cannot read '%s'", clause)
		}
		if err := filter.add(parts[1], parts[2], parts[3]); err != nil {
			return filter, err
		}
	}
	if filter.from.IsZero() {
		return filter, fmt.Errorf("invalid $filter: eventTimestamp ge is required")
	}
	return filter, nil
}

func (f *logFilter) add(field, operator, value string) error {
	if strings.EqualFold(field, "eventTimestamp") {
		moment, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			return fmt.Errorf("invalid $filter: '%s' is not a time", value)
		}
		switch operator {
		case "ge":
			f.from = moment
		case "le":
			f.to = moment
		default:
			return fmt.Errorf("invalid $filter: eventTimestamp knows ge and le")
		}
		return nil
	}
	place := map[string]*string{
		"resourcegroupname": &f.group, "resourceuri": &f.resource, "resourceid": &f.resource,
		"resourceprovider": &f.provider, "correlationid": &f.correlation,
	}[strings.ToLower(field)]
	if place == nil || operator != "eq" {
		return fmt.Errorf("invalid $filter: '%s %s' is not supported", field, operator)
	}
	*place = value
	return nil
}

package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// deploymentFunctions are the functions that know the deployment and the world around it.
func deploymentFunctions() map[string]*function {
	return map[string]*function{
		"parameters": {least: 1, most: 1, apply: (*environment).parameterValue},
		"variables":  {least: 1, most: 1, apply: (*environment).variable},
		"copyIndex":  {least: 0, most: 2, apply: (*environment).copyIndex},
		"reference":  {least: 1, most: 3, apply: (*environment).reference},
		"resourceId": {least: 2, most: -1, apply: func(env *environment, a []any) (any, error) {
			return env.resourceID(a, env.plan.site.Group)
		}},
		"subscriptionResourceId": {least: 2, most: -1,
			apply: func(env *environment, a []any) (any, error) { return env.resourceID(a, "") }},
		"extensionResourceId": pure(3, -1, extensionID),
		"resourceGroup":       {apply: (*environment).resourceGroup},
		"subscription":        {apply: (*environment).subscription},
		"tenant":              {apply: (*environment).tenant},
		"deployment":          {apply: (*environment).deployment},
		"environment":         pure(0, 0, func([]any) (any, error) { return cloud(), nil }),
		"utcNow":              {least: 0, most: 1, apply: (*environment).utcNow},
	}
}

func (env *environment) parameterValue(a []any) (any, error) {
	name, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	if _, declared := get(env.plan.template.parameters, name); !declared {
		return nil, fmt.Errorf("the template parameter '%s' is not found. Please see https://aka.ms/arm-syntax-parameters "+
			"for usage details", name)
	}
	bound, err := env.plan.parameter(name)
	return bound.Value, err
}

// variable evaluates a variable when it is first asked for.
func (env *environment) variable(a []any) (any, error) {
	name, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	p, key := env.plan, strings.ToLower(name)
	if value, done := p.variables[key]; done {
		return value, nil
	}
	written, at, err := p.variableSource(name)
	if err != nil {
		return nil, err
	}
	if p.evaluating[key] {
		return nil, fmt.Errorf("the template variable '%s' refers to itself", name)
	}
	p.evaluating[key] = true
	defer delete(p.evaluating, key)
	inner := &environment{plan: p}
	var value any
	if at == ".variables.copy" {
		value, err = inner.turns(at, name, written.(map[string]any))
	} else {
		value, err = inner.value(at, written)
	}
	if err == nil {
		p.variables[key] = value
	}
	return value, err
}

// variableSource finds a variable, or the copy that makes it.
func (p *Plan) variableSource(name string) (written any, at string, err error) {
	if written, found := get(p.template.variables, name); found && !strings.EqualFold(name, "copy") {
		return written, ".variables." + name, nil
	}
	copies, _ := get(p.template.variables, "copy")
	list, _ := copies.([]any)
	for _, entry := range list {
		if asked, isObject := entry.(map[string]any); isObject && strings.EqualFold(getText(asked, "name"), name) {
			return asked, ".variables.copy", nil
		}
	}
	return nil, "", fmt.Errorf("the template variable '%s' is not found. Please see https://aka.ms/arm-syntax-variables "+
		"for usage details", name)
}

// copyIndex takes a copy's name, an offset, or both.
func (env *environment) copyIndex(a []any) (any, error) {
	name, offset := "", int64(0)
	for i, argument := range a {
		if n, isInteger := integer(argument); isInteger {
			offset = n
		} else if text, isText := argument.(string); isText && i == 0 {
			name = text
		} else {
			return nil, unexpected(i, "a copy's name or an offset", argument)
		}
	}
	for _, turn := range slices.Backward(env.loops) {
		if name == "" || strings.EqualFold(name, turn.name) {
			return number(int64(turn.index) + offset), nil
		}
	}
	return nil, errors.New("it is not expected here: there is no such copy around it")
}

// reference gives the properties of a resource, or all of it when 'Full' is asked for.
func (env *environment) reference(a []any) (any, error) {
	name, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	if env.azure == nil {
		return nil, errors.New("it is not expected here: it can be used in the properties of a resource and in outputs only")
	}
	id := env.plan.identify(name)
	if id == "" {
		return nil, fmt.Errorf("the resource '%s' is not defined in the template", name)
	}
	resource, there := env.azure.Resource(id)
	if !there {
		return nil, &MissingError{ID: id}
	}
	if len(a) == 3 {
		if how, _ := a[2].(string); !strings.EqualFold(how, "Full") {
			return nil, errors.New("the third parameter can only be 'Full'")
		}
		return resource, nil
	}
	properties, _ := get(resource, "properties")
	return properties, nil
}

// identify gives the ID of what an expression names: an ID, or the name of a resource of the template.
func (p *Plan) identify(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	for i := range p.Resources {
		if p.Resources[i].goesBy(name) {
			return p.Resources[i].ID
		}
	}
	for i := range p.skipped {
		if p.skipped[i].goesBy(name) {
			return p.skipped[i].ID
		}
	}
	return ""
}

// resourceID is made from an optional subscription, an optional resource group, a type, and its names.
func (env *environment) resourceID(a []any, group string) (any, error) {
	parts, at, err := typeAndNames(a)
	if err != nil {
		return nil, err
	}
	subscription := env.plan.site.Subscription
	switch at {
	case 0:
	case 1:
		group = parts[0]
	case 2:
		subscription, group = parts[0], parts[1]
	default:
		return nil, errors.New("before the type there may be a subscription and a resource group only")
	}
	id := "/subscriptions/" + subscription
	if strings.EqualFold(parts[at], GroupType) && len(parts) == at+2 {
		return id + "/resourceGroups/" + parts[at+1], nil
	}
	if group != "" {
		id += "/resourceGroups/" + group
	}
	return id + "/providers/" + Path(parts[at], strings.Join(parts[at+1:], "/")), nil
}

// typeAndNames finds the type among strings: the first that has a slash.
func typeAndNames(a []any) (parts []string, at int, err error) {
	for i := range a {
		part, err := textAt(a, i)
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, part)
	}
	at = slices.IndexFunc(parts, func(part string) bool { return strings.Contains(part, "/") })
	if at < 0 {
		return nil, 0, errors.New("a fully qualified resource type is missing")
	}
	if names := len(parts) - at - 1; names != strings.Count(parts[at], "/") {
		return nil, 0, fmt.Errorf("the type '%s' requires %d resource name argument(s)", parts[at],
			strings.Count(parts[at], "/"))
	}
	return parts, at, nil
}

func extensionID(a []any) (any, error) {
	scope, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	parts, at, err := typeAndNames(a[1:])
	if err != nil || at != 0 {
		return nil, errors.Join(errors.New("it takes a scope, a type and its names"), err)
	}
	return scope + "/providers/" + Path(parts[0], strings.Join(parts[1:], "/")), nil
}

func (env *environment) resourceGroup([]any) (any, error) {
	site := env.plan.site
	if site.Group == "" {
		return nil, errors.New("it is not expected here: the deployment is not to a resource group")
	}
	return map[string]any{
		"id": "/subscriptions/" + site.Subscription + "/resourceGroups/" + site.Group, "name": site.Group, "type": GroupType,
		"location": site.GroupLocation, "properties": map[string]any{"provisioningState": "Succeeded"},
	}, nil
}

func (env *environment) subscription([]any) (any, error) {
	site := env.plan.site
	return map[string]any{
		"id": "/subscriptions/" + site.Subscription, "subscriptionId": site.Subscription, "tenantId": site.Tenant,
		"displayName": "Embedded",
	}, nil
}

func (env *environment) tenant([]any) (any, error) {
	return map[string]any{
		"id": "/tenants/" + env.plan.site.Tenant, "tenantId": env.plan.site.Tenant, "displayName": "Embedded",
	}, nil
}

func (env *environment) deployment([]any) (any, error) {
	site := env.plan.site
	about := map[string]any{
		"name": site.Deployment, "properties": map[string]any{"mode": site.Mode, "provisioningState": "Accepted"},
	}
	if site.Group == "" {
		about["location"] = site.Location
	}
	return about, nil
}

// cloud is the least of what environment() tells in the public cloud.
func cloud() map[string]any {
	return map[string]any{
		"name": "AzureCloud", "resourceManager": "https://management.azure.com/",
		"authentication": map[string]any{
			"loginEndpoint": "https://login.microsoftonline.com/", "tenant": "common", "identityProvider": "AAD",
		},
		"suffixes": map[string]any{
			"keyvaultDns": ".vault.azure.net", "storage": "core.windows.net", "acrLoginServer": ".azurecr.io",
		},
	}
}

// utcNow writes the time of the deployment: 20060102T150405Z, or as a .NET format of date and time fields says.
func (env *environment) utcNow(a []any) (any, error) {
	if !env.inDefault {
		return nil, errors.New("it is not expected here: it can be used in default values of parameters only")
	}
	now := env.plan.site.Now.UTC()
	if len(a) == 0 {
		return now.Format("20060102T150405Z"), nil
	}
	pattern, err := textAt(a, 0)
	if err != nil {
		return nil, err
	}
	return formatTime(now, pattern), nil
}

// formatTime writes a time in a format of .NET's fields, of which the longer ones come first.
func formatTime(now time.Time, pattern string) string {
	fields := strings.NewReplacer("yyyy", "2006", "yy", "06", "MM", "01", "dd", "02", "HH", "15", "mm", "04", "ss", "05",
		"d", "01/02/2006", "u", "2006-01-02 15:04:05Z")
	return now.Format(fields.Replace(pattern))
}

package deploymentstack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/azure"
	"salve/runbooks/armdeployment"
)

// Preview says what an update would change, as ARM predicts it of the template, and what the stack would let go. It
// changes nothing.
func Preview(ctx context.Context, world World, in Inputs, order Order) (string, error) {
	if err := in.validate(order); err != nil {
		return "", err
	}
	u := &update{World: world, Inputs: in, order: order}
	seen, err := u.group().Read(ctx, world.Azure)
	if err != nil {
		return "", err
	}
	missing, err := seen.Preview()
	if err != nil {
		return "", err
	}
	if missing != "" && in.ResourceGroup != "" {
		return missing + "\nwhat would change in it ARM can't say before it is there", nil
	}
	there, err := u.now(ctx)
	if err != nil {
		return "", err
	}
	changes, err := u.predicted(ctx)
	if err != nil {
		return "", order.MaskError(err)
	}
	lines := append([]string{armdeployment.PreviewOf(changes)}, u.letGo(there, changes)...)
	if missing != "" {
		lines = append([]string{missing}, lines...)
	}
	return strings.Join(lines, "\n"), nil
}

// predicted asks ARM what a deployment of the template would change. Of stacks it predicts nothing.
func (u *update) predicted(ctx context.Context) ([]azure.Change, error) {
	parameters, err := json.Marshal(u.order.Parameters)
	if err != nil {
		return nil, fmt.Errorf("encoding the parameters: %w", err)
	}
	name := azure.DeploymentName{ResourceGroup: u.ResourceGroup, Name: u.Stack}
	return u.Azure.WhatIf(ctx, name, azure.DeploymentBody{
		Template: u.order.Template, Parameters: parameters, Location: u.order.Location,
	})
}

// letGo are the resources that the stack has and that are none of those that the template has.
func (u *update) letGo(there sight, changes []azure.Change) []string {
	if there.Stack == nil {
		return []string{"+ stack " + u.Stack}
	}
	sure := true
	stays := func(id string) bool {
		return slices.ContainsFunc(changes, func(change azure.Change) bool {
			return change.Type != "Ignore" && azure.SameID(change.ResourceID, id)
		})
	}
	for _, change := range changes {
		sure = sure && change.Type != "Unsupported"
	}
	var lines []string
	for _, id := range there.Resources {
		if !stays(id) {
			lines = append(lines, fmt.Sprintf("- %s: the template has it no more; it would be %sed", azure.ShortID(id),
				strings.TrimSuffix(u.order.OnUnmanage, "e")))
		}
	}
	if !sure && len(lines) > 0 {
		lines = append(lines, "? ARM can't read all of the template yet: some of these may stay")
	}
	return lines
}

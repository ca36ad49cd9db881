package armdeployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/azure"
)

// Preview says what a deployment would change, as ARM predicts it, and changes
// nothing.
func Preview(ctx context.Context, world World, in Inputs, order Order) (string, error) {
	if err := in.validate(order); err != nil {
		return "", err
	}
	body, err := order.body(nil)
	if err != nil {
		return "", err
	}
	seen, err := (&deployment{Inputs: in, order: order}).group().Read(ctx, world.Azure)
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
	changes, err := world.Azure.WhatIf(ctx, in.name(), body)
	if err != nil {
		return "", order.MaskError(err)
	}
	return strings.TrimPrefix(missing+"\n"+PreviewOf(changes), "\n"), nil
}

// PreviewOf lists what ARM predicts, the gravest first.
func PreviewOf(changes []azure.Change) string {
	var counts, lines []string
	for _, kind := range []struct{ of, sign, words string }{
		{"Delete", "-", "to delete"}, {"Create", "+", "to create"}, {"Modify", "~", "to change"},
		{"Deploy", "!", "that ARM can't predict"}, {"Unsupported", "?", "that ARM can't read"},
		{"NoChange", "=", "to leave as they are"},
	} {
		count := 0
		for _, change := range changes {
			if change.Type != kind.of {
				continue
			}
			if count++; kind.of != "NoChange" {
				lines = append(lines, line(kind.sign, change))
			}
		}
		if count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count, kind.words))
		}
	}
	if len(counts) == 0 {
		return "nothing to change"
	}
	return strings.Join(append([]string{"resources: " + strings.Join(counts, ", ")}, lines...), "\n")
}

func line(sign string, change azure.Change) string {
	text := sign + " " + azure.ShortID(change.ResourceID)
	if len(change.Properties) > 0 {
		properties := slices.Clone(change.Properties)
		slices.Sort(properties)
		text += ": " + strings.Join(slices.Compact(properties), ", ")
	}
	return text
}

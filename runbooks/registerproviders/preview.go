package registerproviders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"salve/azure"
)

// Preview says what a run would register, and changes nothing.
func Preview(ctx context.Context, world World, in Inputs, order Order) (string, error) {
	if err := errors.Join(in.validate(), order.Validate()); err != nil {
		return "", err
	}
	seen, err := (&registration{World: world, Inputs: in, order: order}).now(ctx)
	if err != nil {
		return "", err
	}
	var lines []string
	told := map[string]bool{}
	for _, one := range append(seen.providers(), seen.features()...) {
		switch {
		case one.State == "":
			return "", fmt.Errorf("ARM has no %s for subscription %s", one, in.Subscription)
		case !one.begun():
			lines = append(lines, fmt.Sprintf("+ %s, which is %s", one, one.State))
			if one.Feature != "" && !told[one.Provider] {
				told[one.Provider] = true
				lines = append(lines, "~ resource provider "+one.Provider+" is told of it, by registering it again")
			}
		case !one.done():
			lines = append(lines, fmt.Sprintf("waits for %s, which is %s", one, one.State))
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n"), nil
	}
	if rest := seen.of(func(one item) bool { return !one.is(azure.Registered) }); len(rest) > 0 {
		return "nothing to register; not waited for: " + list(rest), nil
	}
	return fmt.Sprintf("all %d are registered: nothing to do", len(seen.Items)), nil
}

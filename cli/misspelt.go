package cli

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"salve/azure"
	"salve/internal/apierr"
)

// misspelt refuses a cluster, or its resource group, that isn't there while one of nearly that name is. It is nil where
// there is no such: a cluster that a rollout has yet to make is not there either, which is for the guards to say. It is
// asked after the cluster was not found, and what can't be seen is for the guards too.
func misspelt(ctx context.Context, client *azure.Client, resourceGroup, cluster string, missing error) error {
	class := apierr.ClassOf(missing)
	if client == nil || class != apierr.Missing && !azure.IsGroupNotFound(missing) {
		return nil
	}
	named, kind, where := cluster, "cluster", "resource group "+resourceGroup
	names, err := client.ClusterNames(ctx, resourceGroup)
	if azure.IsGroupNotFound(missing) || azure.IsGroupNotFound(err) {
		named, kind, where = resourceGroup, "resource group", "the subscription"
		names, err = client.GroupNames(ctx)
	}
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, named) }) {
		return nil
	}
	for _, name := range names {
		if isTypo(named, name) {
			return usage("%s %q not found in %s. Did you mean %q?", kind, named, where, name)
		}
	}
	return nil
}

// isTypo tells a name with a slip of the finger from one of something else. Names of a fleet are close to each other:
// aks-1 and aks-2, westus and eastus, blue-a and blue-b are none for the other.
func isTypo(name, meant string) bool {
	parts := func(name string) []string {
		return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	}
	typed, there := parts(name), parts(meant)
	if strings.Join(typed, "") == strings.Join(there, "") {
		return true
	}
	if len(typed) != len(there) {
		return false
	}
	slips := 0
	for i := range typed {
		if typed[i] == there[i] {
			continue
		}
		if slips++; len(there[i]) < 3 || letters(typed[i]) == letters(there[i]) || editDistance(typed[i], there[i]) > 1 {
			return false
		}
	}
	return slips == 1
}

// letters are a word without its digits.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, word)
}

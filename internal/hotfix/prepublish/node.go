package prepublish

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"salve/internal/hotfix"
)

// ReadNodes reads nodes, one a line: the ID and, behind white space, the version. Where the version is missing it is
// the one that is given here. Empty lines don't count. One ID is one node.
func ReadNodes(in io.Reader, version string) (Fleet, error) {
	fleet := Fleet{patches: map[string][]int{}, others: map[string]int{}}
	seen := map[string]int{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		node, err := nodeOf(words, version)
		if err != nil {
			return Fleet{}, fmt.Errorf("line %d of the nodes: %w", n, err)
		}
		if before, twice := seen[node.ID]; twice {
			return Fleet{}, fmt.Errorf("line %d of the nodes: %s is the node of line %d", n, hotfix.Quote(node.ID), before)
		}
		seen[node.ID] = n
		fleet.known = append(fleet.known, node)
	}
	if err := lines.Err(); err != nil {
		return Fleet{}, fmt.Errorf("nodes: %w", err)
	}
	slices.SortStableFunc(fleet.known, func(a, b hotfix.Node) int { return compareVersions(a.Version, b.Version) })
	return fleet, nil
}

func nodeOf(words []string, version string) (hotfix.Node, error) {
	id, err := hotfix.ParseNodeID(words[0])
	switch {
	case err != nil:
		return hotfix.Node{}, err
	case len(words) > 2:
		return hotfix.Node{}, errors.New("there is more than an ID and a version")
	case len(words) == 2:
		version = words[1]
	case version == "":
		return hotfix.Node{}, errors.New("there is no version behind the ID, and none was given for all")
	}
	return hotfix.Node{ID: id, Version: version}, nil
}

// compareVersions puts what is none before all that are.
func compareVersions(a, b string) int {
	x, xErr := hotfix.ParseVersion(a)
	y, yErr := hotfix.ParseVersion(b)
	if xErr != nil || yErr != nil {
		return cmp.Or(cmp.Compare(baseOf(a), baseOf(b)), cmp.Compare(a, b))
	}
	return cmp.Or(cmp.Compare(x.Base(), y.Base()), cmp.Compare(x.Patch(), y.Patch()), cmp.Compare(a, b))
}

// Placement is what one node gets.
type Placement struct {
	Node    string `json:"node"`
	Current string `json:"current"`
	Effect
}

// Place tells what each node gets that is known, by its ID.
func Place(fleet Fleet, rule Rule) []Placement {
	placed := make([]Placement, 0, len(fleet.known))
	for _, node := range fleet.known {
		placed = append(placed, Placement{node.ID, node.Version, rule(node)})
	}
	slices.SortFunc(placed, func(a, b Placement) int { return cmp.Compare(a.Node, b.Node) })
	return placed
}

package prepublish

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"salve/internal/hotfix"
)

// Fleet is the versions that nodes have. It keeps numbers where it can: a map from
// text to nodes takes several times as long for a million different ones.
type Fleet struct {
	patches map[string][]int // of each base, one for each node, sorted
	others  map[string]int   // the nodes of a version with a suffix, and of what is none
	known   []hotfix.Node    // the nodes whose IDs are known, a lower version before a higher one
}

// ReadFleet reads versions, one a line; empty lines don't count.
func ReadFleet(in io.Reader) (Fleet, error) {
	fleet := Fleet{patches: map[string][]int{}, others: map[string]int{}}
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		if version := strings.TrimSpace(lines.Text()); version != "" {
			fleet.add(version)
		}
	}
	if err := lines.Err(); err != nil {
		return Fleet{}, fmt.Errorf("line %d of the versions: %w", n+1, err)
	}
	for _, patches := range fleet.patches {
		slices.Sort(patches)
	}
	return fleet, nil
}

func (f Fleet) add(text string) {
	version, err := hotfix.ParseVersion(text)
	if err != nil || strings.Contains(text, "-") {
		f.others[text]++
		return
	}
	f.patches[version.Base()] = append(f.patches[version.Base()], version.Patch())
}

// Nodes is how many nodes the fleet has.
func (f Fleet) Nodes() int {
	nodes := len(f.known)
	for _, patches := range f.patches {
		nodes += len(patches)
	}
	for _, more := range f.others {
		nodes += more
	}
	return nodes
}

// each visits every version once, a lower patch before a higher one, with the number
// of its nodes. What is no version has no base.
func (f Fleet) each(visit func(node hotfix.Node, base string, nodes int)) {
	for _, node := range f.known {
		visit(node, baseOf(node.Version), 1)
	}
	for base, patches := range f.patches {
		for len(patches) > 0 {
			same := 1
			for same < len(patches) && patches[same] == patches[0] {
				same++
			}
			visit(hotfix.Node{Version: base + "." + strconv.Itoa(patches[0])}, base, same)
			patches = patches[same:]
		}
	}
	for _, text := range slices.Sorted(maps.Keys(f.others)) {
		visit(hotfix.Node{Version: text}, baseOf(text), f.others[text])
	}
}

// baseOf gives the base of a version; what is none has none.
func baseOf(text string) string {
	version, err := hotfix.ParseVersion(text)
	if err != nil {
		return ""
	}
	return version.Base()
}

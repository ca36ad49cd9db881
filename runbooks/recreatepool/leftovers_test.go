package recreatepool

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"salve/azure"
)

func TestLeftovers(t *testing.T) {
	in := inputs()
	name := standInName(in.poolID(), "")
	tagged := func(tag, value string) azure.Pool {
		tags := map[string]string{"purpose": "salve-stand-in", "salve-source": in.poolID(), "salve-run": "run-0"}
		tags[tag] = value
		maps.DeleteFunc(tags, func(_, value string) bool { return value == "" })
		return azure.Pool{Name: name, State: "Succeeded", Tags: tags}
	}
	left := tagged("", "")
	nonsense, shouted := tagged("salve-source", "nonsense"), tagged("salve-source", strings.ToUpper(in.poolID()))
	nonsense.Name = "s4"
	for what, row := range map[string]struct {
		standIn azure.Pool
		source  string // its state; none when it is not there
		open    string
		want    expected
	}{
		"the source is Succeeded: remove":          {left, "Succeeded", "", holds},
		"the source is Failed: remove":             {left, "Failed", "", holds},
		"the source is Canceled: remove":           {left, "Canceled", "", holds},
		"the source is Updating: not now":          {left, "Updating", "", deferred},
		"the source is Upgrading: not now":         {left, "Upgrading", "", deferred},
		"the source is missing: never guess":       {left, "", "", needsAttention},
		"the source is in an unseen state":         {left, "Hibernating", "", needsAttention},
		"the stand-in is of this very run":         {tagged("salve-run", "run-1"), "Updating", "", holds},
		"this run is the open one":                 {left, "Failed", "run-1", holds},
		"its run is open":                          {left, "Failed", "run-0", needsAttention},
		"another run is open":                      {left, "Failed", "run-7", needsAttention},
		"no run in the tags":                       {tagged("salve-run", ""), "Failed", "", needsAttention},
		"no purpose in the tags":                   {tagged("purpose", ""), "Failed", "", needsAttention},
		"another source in the tags":               {tagged("salve-source", in.poolID()+"2"), "Failed", "", needsAttention},
		"a source that is no pool of this cluster": {nonsense, "Failed", "", needsAttention},
		"no tags at all, only the name":            {azure.Pool{Name: name}, "Failed", "", needsAttention},
		"only the name that Windows pools have":    {azure.Pool{Name: name[:6]}, "Failed", "", needsAttention},
		"the source in the tags in other case":     {shouted, "Failed", "", holds},
	} {
		t.Run(what, func(t *testing.T) {
			seen := leftovers{reading: readingOfPools(row.standIn), Open: row.open}
			if row.source != "" {
				seen.AKS.Pools = append(seen.AKS.Pools, azure.Pool{Name: "system", State: row.source, Count: 3})
			}
			if leftover(seen.reading).Name == "" {
				t.Fatal("the stand-in was not found")
			}
			expectFinding(t, leftoversKnown(seen), row.want)
		})
	}
	expectFinding(t, leftoversKnown(leftovers{reading: readingOfPools()}), holds)
}

// TestLeftoverIsThePoolsOwn: a stand-in of another pool is not taken for this one's, and one with wrong tags
// stands for all that are there.
func TestLeftoverIsThePoolsOwn(t *testing.T) {
	in := inputs()
	of := func(name, source string) azure.Pool {
		tags := map[string]string{"purpose": "salve-stand-in", "salve-source": source, "salve-run": "run-0"}
		return azure.Pool{Name: name, Tags: tags}
	}
	theirs := of("s4", azure.PoolID(in.clusterID(), "workers"))
	if pool := leftover(readingOfPools(theirs)); pool.Name != "" {
		t.Errorf("the stand-in %q of another pool was taken for this one's", pool.Name)
	}
	pools := []azure.Pool{theirs, of("s5", in.poolID()), of("s6", "nonsense")}
	if pool := leftover(readingOfPools(pools...)); pool.Name != "s6" {
		t.Errorf("got %q of several", pool.Name)
	}
}

func TestStandInNameIsValidAndTheSame(t *testing.T) {
	rule, seen := regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`), map[string]bool{}
	for i := range 2000 {
		id := azure.PoolID(azure.ClusterID(subscription, fmt.Sprintf("rg-%d", i), "c"), "system")
		name, windows := standInName(id, "Linux"), standInName(id, "Windows")
		if !rule.MatchString(name) || !rule.MatchString(windows) || len(windows) > 6 {
			t.Fatalf("names %q and %q", name, windows)
		}
		if name != standInName(strings.ToUpper(id), "linux") {
			t.Fatalf("the case of the ID changes the name %q", name)
		}
		if seen[name] {
			t.Fatalf("%q twice", name)
		}
		seen[name] = true
	}
}

func TestPoolsOfRole(t *testing.T) {
	infra := map[string]string{RoleKey: "infra"}
	cluster := azure.Cluster{Pools: []azure.Pool{
		{Name: "a", Labels: infra}, {Name: "b", Tags: infra},
		{Name: "c", Labels: map[string]string{RoleKey: "infra2"}}, {Name: "d"},
		{Name: "e", Labels: infra, Tags: map[string]string{"purpose": "salve-stand-in"}},
	}}
	if got := fmt.Sprint(PoolsOfRole(cluster, "infra")); got != "[a b]" {
		t.Errorf("got %s", got)
	}
	if got := PoolsOfRole(cluster, ""); got != nil {
		t.Errorf("an empty role selected %v", got)
	}
}

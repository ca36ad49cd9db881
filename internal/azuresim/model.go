package azuresim

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
	stateCanceled  = "Canceled"
	stateUpdating  = "Updating"
	stateUpgrading = "Upgrading"
	stateCreating  = "Creating"
	stateDeleting  = "Deleting"

	modeSystem = "System"
	modeUser   = "User"

	// Values of Pool.Interfaces.
	interfacesHealthy = ""
	interfacesEmpty   = "empty"
	interfacesAbsent  = "absent"
	interfacesNull    = "null"

	// Values of Operation.By.
	byClient           = "client"
	byAKS              = "aks"
	byConcurrentWriter = "concurrent-writer"

	tenant = "7e4a4700-0000-4000-8000-000000000002"
)

// model is the state of the world and the only code that changes it. It is not safe for concurrent use: the World's
// lock guards it.
type model struct {
	scenario Scenario
	server   string // host of the given cluster's API server; empty: there is none
	names    *seeded
	time     *eventQueue
	log      *activityLog
	kube     Kubernetes
	faults   *faultSet
	started  time.Time

	cluster    *cluster // nil: there is none
	pools      []*pool
	operations []*operation
	running    *operation
	aborting   *operation
	waiting    []func() // actors that wait until nothing runs

	groups []*group
	// clusterGroupTags are those of the cluster's and its nodes' resource groups.
	clusterGroupTags map[string]map[string]any
	resources        []*holding
	typesSeen        map[string]bool // in lower case: types that there is, or was, a resource of
	deployments      []*deployment
	results          map[string]result // by what Location headers call them
	stacks           []*stack
	registrations    registrations
}

type cluster struct {
	state string
	etag  string
	tags  map[string]string
	sent  map[string]any // properties that the last write had
}

// pool is an agent pool: its definition as the client sent it, whatever fields that has, and what the
// service knows of it.
type pool struct {
	name       string
	state      string
	etag       string
	definition map[string]any
	scaleSet   *scaleSet
	recreated  bool // created by a client under a name that was there at the start
}

type scaleSet struct {
	name     string
	uniqueID string
	created  time.Time
	// corrupted: every write fails, and with retrying set it is tried again and again.
	corrupted  bool
	retrying   bool
	retry      *event
	interfaces string // what a machine that never came has for ipConfigurations
	machines   []*machine
	nextIndex  int
}

type machine struct {
	index   int
	node    string // name of its Node, also before it registers
	present bool   // it is a Node
	broken  bool   // it never got its network interface
}

func (m *model) pool(name string) *pool {
	for _, p := range m.pools {
		if strings.EqualFold(p.name, name) {
			return p
		}
	}
	return nil
}

// touch gives the pool, and the cluster that shows it, new ETags.
func (m *model) touch(p *pool) {
	if p != nil {
		p.etag = m.names.uuid("etag of " + p.name)
	}
	m.cluster.etag = m.names.uuid("etag of the cluster")
}

func (m *model) setPoolState(p *pool, state string) {
	p.state = state
	m.touch(p)
}

func (m *model) setClusterState(state string) {
	m.cluster.state = state
	m.touch(nil)
}

func (m *model) anyPoolFailed() bool {
	return slices.ContainsFunc(m.pools, func(p *pool) bool { return p.state == stateFailed })
}

// lastSystemPool: deleting p would leave no pool of mode System.
func (m *model) lastSystemPool(p *pool) bool {
	if p.mode() != modeSystem {
		return false
	}
	return !slices.ContainsFunc(m.pools, func(other *pool) bool {
		return other != p && other.mode() == modeSystem && other.state != stateDeleting
	})
}

// original: the scenario has a pool of that name that is not a stand-in.
func (m *model) original(p *pool) bool {
	return !p.taggedStandIn() && slices.ContainsFunc(m.scenario.Pools, func(s Pool) bool { return s.Name == p.name })
}

// matches says whether a fault's pool pattern means p.
func (m *model) matches(pattern string, p *pool) bool {
	switch pattern {
	case anyStandIn:
		return !m.original(p)
	case anyRecreated:
		return p.recreated
	}
	return pattern == p.name
}

func (p *pool) mode() string {
	if mode, _ := p.definition["mode"].(string); mode != "" {
		return mode
	}
	return modeUser
}

func (p *pool) taggedStandIn() bool { return p.tags()["purpose"] == "salve-stand-in" }

func (p *pool) tags() map[string]string       { return stringsIn(p.definition["tags"]) }
func (p *pool) nodeLabels() map[string]string { return stringsIn(p.definition["nodeLabels"]) }
func (p *pool) count() int                    { return intIn(p.definition, "count") }

func (p *pool) text(field string) string {
	text, _ := p.definition[field].(string)
	return text
}

func (p *pool) taints() []string {
	list, _ := p.definition["nodeTaints"].([]any)
	taints := make([]string, 0, len(list))
	for _, item := range list {
		if text, ok := item.(string); ok {
			taints = append(taints, text)
		}
	}
	return taints
}

func (p *pool) zone(index int) string {
	zones, _ := p.definition["availabilityZones"].([]any)
	if len(zones) == 0 {
		return ""
	}
	zone, _ := zones[index%len(zones)].(string)
	return zone
}

func stringsIn(value any) map[string]string {
	object, _ := value.(map[string]any)
	texts := make(map[string]string, len(object))
	for key, item := range object {
		if text, ok := item.(string); ok {
			texts[key] = text
		}
	}
	return texts
}

func intIn(object map[string]any, key string) int {
	n, _ := intOf(object[key])
	return n
}

// intOf reads a JSON number that is an integer.
func intOf(value any) (int, bool) {
	switch value := value.(type) {
	case json.Number:
		n, err := value.Int64()
		return int(n), err == nil
	case int:
		return value, true
	}
	return 0, false
}

var (
	anyPoolName     = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
	windowsPoolName = regexp.MustCompile(`^[a-z][a-z0-9]{0,5}$`)
)

func validPoolName(name, os string) bool {
	if strings.EqualFold(os, "Windows") {
		return windowsPoolName.MatchString(name)
	}
	return anyPoolName.MatchString(name)
}

// readOnly are the properties of a pool that the service computes; what a client sends for them is ignored.
func readOnly() []string {
	return []string{"provisioningState", "eTag", "currentOrchestratorVersion", "nodeImageVersion", "powerState"}
}

// newDefinition is what AKS keeps of a body: without what it computes, with its defaults for what the body leaves out.
func (m *model) newDefinition(sent map[string]any) map[string]any {
	definition := maps.Clone(sent)
	for _, field := range readOnly() {
		delete(definition, field)
	}
	for field, value := range map[string]any{
		"mode": modeUser, "osType": "Linux", "osSKU": "Ubuntu", "type": "VirtualMachineScaleSets",
		"maxPods": json.Number("110"), "osDiskSizeGB": json.Number("128"), "osDiskType": "Ephemeral", "kubeletDiskType": "OS",
		"scaleDownMode": "Delete", "enableFIPS": false, "orchestratorVersion": m.scenario.KubernetesVersion,
		"upgradeSettings": map[string]any{"maxSurge": "10%"},
	} {
		if definition[field] == nil {
			definition[field] = value
		}
	}
	if definition["count"] == nil {
		definition["count"] = definition["minCount"]
	}
	return definition
}

func (m *model) newScaleSet(poolName string) *scaleSet {
	nth := m.names.next("scale set of " + poolName)
	return &scaleSet{
		name:     fmt.Sprintf("aks-%s-%s-vmss", poolName, m.names.digits("scale set", poolName, fmt.Sprint(nth))),
		uniqueID: m.names.uuid("scale set of " + poolName),
		created:  m.time.now,
	}
}

// addMachine gives the scale set one more instance, which is not yet a node.
func (s *scaleSet) addMachine() *machine {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	index, suffix := s.nextIndex, ""
	for n := index; len(suffix) < 6; n /= len(alphabet) {
		suffix = string(alphabet[n%len(alphabet)]) + suffix
	}
	created := &machine{index: index, node: s.name + suffix}
	s.nextIndex++
	s.machines = append(s.machines, created)
	return created
}

func (s *scaleSet) has(machine *machine) bool { return slices.Contains(s.machines, machine) }

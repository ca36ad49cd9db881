package azuresim

// Fault is one thing that goes wrong: exactly one of its fields is set. Times are counted from the start of the world.
type Fault struct {
	Throttle         *Throttle         `yaml:"throttle"`
	ServerError      *ServerError      `yaml:"serverError"`
	LostResponse     *LostResponse     `yaml:"lostResponse"`
	RBACLag          *RBACLag          `yaml:"rbacLag"`
	Deny             *Deny             `yaml:"deny"`
	Hang             *Hang             `yaml:"hang"`
	Quota            *Quota            `yaml:"quota"`
	Capacity         *Capacity         `yaml:"capacity"`
	NodeNeverJoins   *NodeNeverJoins   `yaml:"nodeNeverJoins"`
	PDBBlocks        *PDBBlocks        `yaml:"pdbBlocks"`
	ConcurrentWriter *ConcurrentWriter `yaml:"concurrentWriter"`
	Background       *Background       `yaml:"background"`
	Recovers         *Recovers         `yaml:"recovers"`
}

// Match selects calls. An empty field matches everything, but an empty API is "arm".
type Match struct {
	// API is arm, kubernetes or login.
	API string `yaml:"api"`
	// Method is an HTTP method, or a Kubernetes verb. Without case.
	Method string `yaml:"method"`
	// Path is a pattern over Call.Resource, without case; * stands for any characters, slashes included.
	Path string `yaml:"path"`
	// After and Until bound the time of the call.
	After Duration `yaml:"after"`
	Until Duration `yaml:"until"`
}

// Throttle answers 429 to the first calls that match.
type Throttle struct {
	Match      Match    `yaml:"match"`
	First      int      `yaml:"first"`
	RetryAfter Duration `yaml:"retryAfter"`
}

// ServerError answers a 5xx to the first calls that match.
type ServerError struct {
	Match  Match `yaml:"match"`
	First  int   `yaml:"first"`
	Status int   `yaml:"status"`
}

// LostResponse drops the answer of the Nth mutating call that matches, after the change happened.
type LostResponse struct {
	Match Match `yaml:"match"`
	Nth   int   `yaml:"nth"`
}

// RBACLag answers 403 AuthorizationFailed on the Activity Log until For has passed.
type RBACLag struct {
	For Duration `yaml:"for"`
}

// Deny answers 403 to every call that matches.
type Deny struct {
	Match Match  `yaml:"match"`
	Code  string `yaml:"code"`
}

// Hang executes the first calls that match at once and answers them only after For.
type Hang struct {
	Match Match    `yaml:"match"`
	First int      `yaml:"first"`
	For   Duration `yaml:"for"`
}

// Quota refuses to create a pool of more than Over machines.
type Quota struct {
	Pool string `yaml:"pool"`
	Over int    `yaml:"over"`
}

// Capacity lets the creation of a pool end Failed, After it began (default: half of its duration).
type Capacity struct {
	Pool  string   `yaml:"pool"`
	Code  string   `yaml:"code"`
	After Duration `yaml:"after"`
}

// NodeNeverJoins keeps that many machines of a created pool from ever registering.
type NodeNeverJoins struct {
	Pool  string `yaml:"pool"`
	Nodes int    `yaml:"nodes"`
}

// PDBBlocks adds a PodDisruptionBudget that allows no disruption of the named app, Until some time (zero: for ever).
type PDBBlocks struct {
	App   string   `yaml:"app"`
	Until Duration `yaml:"until"`
}

// ConcurrentWriter starts an update of the named pool (empty: of the cluster) at a time, or after the first call that
// matches, or as soon after as nothing else runs.
type ConcurrentWriter struct {
	At    Duration          `yaml:"at"`
	After *Match            `yaml:"after"`
	Pool  string            `yaml:"pool"`
	For   Duration          `yaml:"for"`
	Tags  map[string]string `yaml:"tags"` // merged into the pool's tags
}

// Background is an operation that AKS starts on the cluster by itself at a time, or as soon after as nothing else runs.
type Background struct {
	At  Duration `yaml:"at"`
	For Duration `yaml:"for"`
}

// Recovers heals the pool's scale set at a time: its missing machines register and it becomes Succeeded.
type Recovers struct {
	Pool string   `yaml:"pool"`
	At   Duration `yaml:"at"`
}

// Names for pools that a fault can use instead of a pool's own name.
const (
	anyStandIn   = "stand-in"
	anyRecreated = "recreated"
)

// copied shares nothing that times leads to.
func (f Fault) copied() Fault {
	return Fault{
		Throttle: copied(f.Throttle), ServerError: copied(f.ServerError), LostResponse: copied(f.LostResponse),
		RBACLag: copied(f.RBACLag), Deny: copied(f.Deny), Hang: copied(f.Hang), Quota: f.Quota, Capacity: copied(f.Capacity),
		NodeNeverJoins: f.NodeNeverJoins, PDBBlocks: copied(f.PDBBlocks), ConcurrentWriter: f.ConcurrentWriter.copied(),
		Background: copied(f.Background), Recovers: copied(f.Recovers),
	}
}

func (i *ConcurrentWriter) copied() *ConcurrentWriter {
	twin := copied(i)
	if twin != nil {
		twin.After = copied(twin.After)
	}
	return twin
}

func copied[T any](original *T) *T {
	if original == nil {
		return nil
	}
	twin := *original
	return &twin
}

// times are when and how long the fault acts, on the world's side.
func (f *Fault) times() []*Duration {
	var all []*Duration
	for _, match := range f.matches() {
		all = append(all, &match.After, &match.Until)
	}
	switch {
	case f.Throttle != nil:
		all = append(all, &f.Throttle.RetryAfter)
	case f.RBACLag != nil:
		all = append(all, &f.RBACLag.For)
	case f.Capacity != nil:
		all = append(all, &f.Capacity.After)
	case f.PDBBlocks != nil:
		all = append(all, &f.PDBBlocks.Until)
	case f.ConcurrentWriter != nil:
		all = append(all, &f.ConcurrentWriter.At, &f.ConcurrentWriter.For)
	case f.Background != nil:
		all = append(all, &f.Background.At, &f.Background.For)
	case f.Recovers != nil:
		all = append(all, &f.Recovers.At)
	}
	return all
}

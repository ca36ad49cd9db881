package plainyaml

import "go.yaml.in/yaml/v3"

// nodes is the memory of a document's nodes: a job has some hundred.
type nodes struct {
	blocks [][]yaml.Node
	// made are how many nodes are in use.
	made int
	// children are those of all collections that were read; pending those, so far, of the ones that are being read.
	children, pending []*yaml.Node
}

// block is how many nodes are made at once.
const block = 128

func (n *nodes) reset() {
	n.made, n.children, n.pending = 0, n.children[:0], n.pending[:0]
}

func (n *nodes) make() *yaml.Node {
	if n.made == block*len(n.blocks) {
		n.blocks = append(n.blocks, make([]yaml.Node, block))
	}
	node := &n.blocks[n.made/block][n.made%block]
	n.made++
	*node = yaml.Node{}
	return node
}

// mark is where the children of a collection begin that is opened now.
func (n *nodes) mark() int { return len(n.pending) }

// open adds a child to the collection that was opened last.
func (n *nodes) open(child *yaml.Node) { n.pending = append(n.pending, child) }

// close gives a collection the children since its mark. Lists that were closed before stay where they are when memory
// runs out.
func (n *nodes) close(collection *yaml.Node, mark int) *yaml.Node {
	own := n.pending[mark:]
	if cap(n.children)-len(n.children) < len(own) {
		n.children = make([]*yaml.Node, 0, max(2*cap(n.children), block, len(own)))
	}
	first := len(n.children)
	n.children = append(n.children, own...)
	collection.Content = n.children[first:len(n.children):len(n.children)]
	n.pending = n.pending[:mark]
	return collection
}

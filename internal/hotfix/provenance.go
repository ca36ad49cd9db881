package hotfix

import "slices"

// Provenance says who vouches for a pointer, and with that what it may make a node do. Its zero value is a file that
// nobody signed: it may name versions of packages that the image's own repositories have and sign, and nothing else.
type Provenance struct {
	// Signed: enough of the keys that the owner of the fleet trusts have signed these very bytes.
	Signed bool
	// Hosts are where artifacts may come from, as host or host:port; empty means none.
	Hosts []string
	// Counter is that of the signed document; a node never takes a lower one than it has seen.
	Counter int64
}

// Provenance says who vouches for the pointer.
func (p Pointer) Provenance() Provenance { return p.provenance }

// By gives the same pointer, vouched for by somebody. The caller has verified that.
func (p Pointer) By(provenance Provenance) Pointer {
	provenance.Hosts = slices.Clone(provenance.Hosts)
	p.provenance = provenance
	return p
}

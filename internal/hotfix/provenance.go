package hotfix

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Provenance says who vouches for a pointer, and with that what it may make a node do. Its zero value is a file that
// nobody signed: it may name versions of packages that the image's own repositories have and sign, and nothing else.
type Provenance struct {
	// Signed: enough of the keys that the owner of the fleet trusts have signed these very bytes.
	Signed bool `json:"-"`
	// Hosts are where artifacts may come from, as host or host:port; empty means none.
	Hosts []string `json:"-"`
	// Counter is that of the signed document; a node never takes a lower one than it has seen.
	Counter int64 `json:"counter"`
	// Root is the version of the root document by which the signatures count.
	Root    int64     `json:"root"`
	Expires time.Time `json:"expires"`
	// Signers are the keys that signed and count, for people.
	Signers []string `json:"signers"`
}

// Provenance says who vouches for the pointer.
func (p Pointer) Provenance() Provenance { return p.provenance }

// By gives the same pointer, vouched for by somebody. The caller has verified that.
func (p Pointer) By(provenance Provenance) Pointer {
	provenance.Hosts = slices.Clone(provenance.Hosts)
	provenance.Signers = slices.Clone(provenance.Signers)
	p.provenance = provenance
	return p
}

// Allows tells whether a node may fetch from an address by a signed pointer: over HTTPS, from a host of the list.
// Redirections are held to the same.
func (p Provenance) Allows(address *url.URL) error {
	switch {
	case address.Scheme != "https":
		return fmt.Errorf("%s is not an address of HTTPS", quote(address.Scheme+"://"+address.Host))
	case address.Hostname() == "":
		return fmt.Errorf("the address %s has no host", quote(address.Redacted()))
	}
	for _, host := range p.Hosts {
		if listed, err := ParseHost(host); err == nil && listed == hostOf(address) {
			return nil
		}
	}
	return fmt.Errorf("host %s is not on the root document's list of hosts", quote(address.Host))
}

// ParseHost reads an entry of the list of hosts, a name or an address with or without a port, and gives it as two of
// them are compared: in lower case and with the port.
func ParseHost(text string) (string, error) {
	at, err := url.Parse("https://" + text)
	if err != nil || at.Host != text || at.Hostname() == "" || strings.ContainsAny(text, "*%@/ ") {
		return "", fmt.Errorf("%s is neither host nor host:port", quote(text))
	}
	return hostOf(at), nil
}

func hostOf(address *url.URL) string {
	port := address.Port()
	if port == "" {
		port = "443"
	}
	return strings.ToLower(address.Hostname()) + ":" + port
}

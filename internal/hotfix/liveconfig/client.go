//go:build linux

package liveconfig

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
)

// Settings say whom to ask, and for how long. Each has a default.
type Settings struct {
	// Configuration is the node's own: it names the API server and its authority, and
	// may hold a map for when the service is out of reach. The default is
	// /opt/azure/containers/aks-node-controller-config.json.
	Configuration string
	// Command is the command that provisions the node. Where the configuration does not
	// name both, the API server and its authority are taken from it. The default is
	// /opt/azure/containers/aks-node-controller-nbc-cmd.sh.
	Command string
	// Server is the API server instead of the configuration's, as host or host:port.
	Server string
	// Authority is a file with the authority's certificates, instead of those of the
	// configuration.
	Authority string
	// ServerName is what the service's certificate is for; default
	// aks-security-patch.data.mcr.microsoft.com.
	ServerName string
	// Component is what is asked about; default aksNodeController.
	Component string
	// Metadata is the address of the attested document.
	Metadata string
	// Limit bounds the call, from the first packet to the last; default 3 s.
	Limit time.Duration
	// MetadataLimit bounds each of two tries at the metadata service; default 2 s.
	MetadataLimit time.Duration
	// Clock is the real one by default.
	Clock clock.Clock
}

// Client asks the live service. New makes one.
type Client struct{ settings Settings }

// New makes a client, with the default wherever a setting is empty.
func New(settings Settings) *Client {
	for _, setting := range []struct {
		value     *string
		otherwise string
	}{
		{&settings.Configuration, "/opt/azure/containers/aks-node-controller-config.json"},
		{&settings.Command, "/opt/azure/containers/aks-node-controller-nbc-cmd.sh"},
		{&settings.ServerName, "aks-security-patch.data.mcr.microsoft.com"},
		{&settings.Component, "aksNodeController"},
		{&settings.Metadata, "http://169.254.169.254/metadata/attested/document?api-version=2025-04-07"},
	} {
		if *setting.value == "" {
			*setting.value = setting.otherwise
		}
	}
	if settings.Limit <= 0 {
		settings.Limit = 3 * time.Second
	}
	if settings.MetadataLimit <= 0 {
		settings.MetadataLimit = 2 * time.Second
	}
	if settings.Clock == nil {
		settings.Clock = clock.Real{}
	}
	return &Client{settings}
}

// hostCharacters are what a name or an address, and a port, are written in.
const hostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]%_"

// service says where to call, by the settings and the node's configuration.
func (c *Client) service(node configuration) (service, error) {
	found := service{name: c.settings.ServerName, authorities: x509.NewCertPool()}
	server := either(c.settings.Server, node.server)
	if strings.Trim(server, hostCharacters) != "" {
		return service{}, fmt.Errorf("the API server %.60q is no name of a host", server)
	}
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(server, "443")
	}
	found.address = server
	authority := node.authority
	if c.settings.Authority != "" {
		var err error
		if authority, err = hotfix.ReadRegular(c.settings.Authority, maxConfiguration); err != nil {
			return service{}, fmt.Errorf("the authority's certificates: %w", err)
		}
	}
	if !found.authorities.AppendCertsFromPEM(authority) {
		return service{}, errors.New("there is no certificate of an authority to know the service by")
	}
	return found, nil
}

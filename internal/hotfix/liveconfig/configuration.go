//go:build linux

package liveconfig

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"salve/internal/hotfix"
)

// maxConfiguration bounds a node's configuration, in bytes.
const maxConfiguration = 8 << 20

// configuration is what the node's own configuration says about the service. The
// fields are those of AKSNodeConfig, in either of the spellings that protobuf's
// JSON allows.
type configuration struct {
	server    string
	authority []byte          // PEM
	hotfixes  json.RawMessage // the map for when the service is out of reach
}

// node reads what the node knows about the service. Where the configuration does not
// say it all, the command is asked for both: a server of the one is not trusted by an
// authority of the other. With an error the configuration's map still counts.
func (c *Client) node() (configuration, error) {
	found, err := readConfiguration(c.settings.Configuration)
	if c.enough(found) {
		return found, nil
	}
	if err == nil {
		err = fmt.Errorf("the node's configuration %s does not have both the API server and its authority's certificate",
			c.settings.Configuration)
	}
	instead, second := readCommand(c.settings.Command)
	if second == nil && !c.enough(instead) {
		second = fmt.Errorf("the node's command %s does not have both %s and %s", c.settings.Command, serverVariable,
			authorityVariable)
	}
	if second != nil {
		return found, errors.Join(err, second)
	}
	instead.hotfixes = found.hotfixes
	return instead, nil
}

// enough tells whether the service is known by it and by the settings.
func (c *Client) enough(found configuration) bool {
	return either(c.settings.Server, found.server) != "" &&
		(c.settings.Authority != "" || len(found.authority) > 0)
}

func readConfiguration(path string) (configuration, error) {
	raw, err := hotfix.ReadRegular(path, maxConfiguration)
	if err != nil {
		return configuration{}, fmt.Errorf("the node's configuration: %w", err)
	}
	var fields struct {
		Server struct {
			Name string `json:"apiServerName"`
		} `json:"apiServerConfig"`
		ServerAsWritten struct {
			Name string `json:"api_server_name"`
		} `json:"api_server_config"`
		Authority          string          `json:"kubernetesCaCert"`
		AuthorityAsWritten string          `json:"kubernetes_ca_cert"`
		Hotfixes           json.RawMessage `json:"hotfixes"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return configuration{}, fmt.Errorf("the node's configuration %s: %w", path, err)
	}
	found := configuration{server: either(fields.Server.Name, fields.ServerAsWritten.Name), hotfixes: fields.Hotfixes}
	found.authority, err = base64.StdEncoding.DecodeString(either(fields.Authority, fields.AuthorityAsWritten))
	if err != nil {
		return configuration{}, fmt.Errorf("the node's configuration %s: the authority's certificate: %w", path, err)
	}
	return found, nil
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

package liveconfig

import (
	"encoding/base64"
	"encoding/json"
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

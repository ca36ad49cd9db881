package served

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// ReadKubeconfig reads the current context of a kubeconfig file, with the certificates that it names inside, so that it
// can be handed to somebody else. An exec plugin stays as it is: a real cluster can't check tokens that the embedded
// Azure makes up, whatever its scenario says of Entra ID.
func ReadKubeconfig(path string) ([]byte, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %q: %w", path, err)
	}
	for _, do := range []func(*api.Config) error{clientcmd.ResolveLocalPaths, api.MinifyConfig, api.FlattenConfig} {
		if err := do(config); err != nil {
			return nil, fmt.Errorf("reading kubeconfig %q: %w", path, err)
		}
	}
	text, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encoding kubeconfig %q: %w", path, err)
	}
	return text, nil
}

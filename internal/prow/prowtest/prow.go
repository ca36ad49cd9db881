package prowtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"salve/internal/kubetest"
)

// Prow is a place where Prow's programs run: a control plane that knows ProwJobs, and a folder for logs and files. It
// is safe for concurrent use.
type Prow struct {
	Plane *kubetest.ControlPlane
	// Dynamic reaches ProwJobs as a user who may do everything.
	Dynamic    dynamic.Interface
	folder     string
	kubeconfig string

	mu      sync.Mutex
	started []*Component
}

// Open prepares a control plane for Prow's programs. Their logs are kept in the folder.
func Open(ctx context.Context, plane *kubetest.ControlPlane, folder string) (*Prow, error) {
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	p := &Prow{Plane: plane, Dynamic: client, folder: folder, kubeconfig: filepath.Join(folder, "kubeconfig")}
	if err := p.writeKubeconfig(); err != nil {
		return nil, err
	}
	return p, Define(ctx, client)
}

// writeKubeconfig writes one whose context is called default, as the alias of the build cluster is that jobs name.
func (p *Prow) writeKubeconfig() error {
	config, err := clientcmd.LoadFromFile(p.Plane.Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of the control plane: %w", err)
	}
	config.Contexts = map[string]*clientcmdapi.Context{"default": config.Contexts[config.CurrentContext]}
	config.CurrentContext = "default"
	if err := clientcmd.WriteToFile(*config, p.kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig of a Prow: %w", err)
	}
	return nil
}

// Close ends every component that runs.
func (p *Prow) Close() error {
	var failed error
	for _, component := range p.Components() {
		failed = errors.Join(failed, component.Kill())
	}
	return failed
}

// Components are those that were started, in that order, ended or not.
func (p *Prow) Components() []*Component {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Component{}, p.started...)
}

// Create makes ProwJobs, for pods in the namespace that a Prow's configuration names.
func (p *Prow) Create(ctx context.Context, prowJobs, pods string, jobs ...Job) error {
	resource := p.Dynamic.Resource(Resource()).Namespace(prowJobs)
	for _, job := range jobs {
		if _, err := resource.Create(ctx, job.Object(prowJobs, pods), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("making ProwJob %s: %w", job.Name, err)
		}
	}
	return nil
}

// release gives up the leadership of a component that was killed: the next one would wait until its lease lapses.
func (p *Prow) release(ctx context.Context, namespace, lease string) error {
	err := p.Plane.Client().CoordinationV1().Leases(namespace).Delete(ctx, lease, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("releasing the leadership %s: %w", lease, err)
	}
	return nil
}

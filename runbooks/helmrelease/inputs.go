package helmrelease

import (
	"context"
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/helm"
)

// Inputs name the release. They are journaled. What is released isn't among them: it may hold secrets, and a run that
// failed may be resumed with it corrected.
type Inputs struct {
	// Cluster is the UID of the cluster's namespace kube-system, and ClusterName what people call it.
	Cluster     string `json:"cluster"`
	ClusterName string `json:"clusterName"`
	Namespace   string `json:"namespace"`
	Release     string `json:"release"`
}

// Order is what is released.
type Order struct {
	Chart helm.Chart
	// Origin is where the chart comes from; the zero value for one in a folder.
	Origin Origin
	Values map[string]any
	// Namespaces are applied before: name, labels and annotations. That of the release is made where none of them is it.
	Namespaces []corev1.Namespace
	// Rollback has an upgrade that fails go back to the revision that was deployed last.
	Rollback bool
	// Timeout bounds the wait for what was applied, and each hook.
	Timeout time.Duration
	// Mask takes secrets out of a text. Nil when there are none.
	Mask func(string) string
}

// Origin is a chart in a registry.
type Origin struct {
	// Reference is as it was written, and Digest what it named when the chart was read.
	Reference, Digest string
	// Now gives the digest of what it names now.
	Now func(context.Context) (string, error)
}

// Names are those that Helm takes, https://github.com/helm/helm/blob/main/pkg/chart/v2/util/validate_name.go, and
// Kubernetes.
var (
	releaseName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// longestRelease is Helm's bound on names of releases.
const longestRelease = 53

func (in Inputs) validate() error {
	if in.Cluster == "" {
		return fmt.Errorf("release %q: the cluster's identity is missing", in.Release)
	}
	return in.ValidateNames()
}

// ValidateNames refuses names that Helm or Kubernetes would refuse: they are known before the cluster is.
func (in Inputs) ValidateNames() error {
	if err := ValidateRelease(in.Release); err != nil {
		return err
	}
	return ValidateNamespace(in.Namespace)
}

// ValidateRelease refuses what no release can be called.
func ValidateRelease(name string) error {
	if len(name) > longestRelease || !releaseName.MatchString(name) {
		return fmt.Errorf("release %q: a name has 1 to %d lower-case letters, digits, dots and dashes", name,
			longestRelease)
	}
	return nil
}

// ValidateNamespace refuses what no namespace can be called.
func ValidateNamespace(name string) error {
	if len(name) > 63 || !namespaceName.MatchString(name) {
		return fmt.Errorf("namespace %q: a name has 1 to 63 lower-case letters, digits and -", name)
	}
	return nil
}

func (o Order) validate() error {
	if o.Timeout <= 0 {
		return fmt.Errorf("the timeout of a release must be above 0, not %s", o.Timeout)
	}
	for _, one := range o.Namespaces {
		if err := ValidateNamespace(one.Name); err != nil {
			return err
		}
	}
	return nil
}

// namespaces are all that have to be there.
func (o Order) namespaces(release string) []corev1.Namespace {
	for _, one := range o.Namespaces {
		if one.Name == release {
			return o.Namespaces
		}
	}
	own := corev1.Namespace{}
	own.Name = release
	return append(o.Namespaces[:len(o.Namespaces):len(o.Namespaces)], own)
}

// longest bounds a text of Helm in the record: it may quote a whole manifest.
const longest = 1000

// mask is a text for records and people.
func (o Order) mask(text string) string {
	if o.Mask != nil {
		text = o.Mask(text)
	}
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-1]) + "…"
	}
	return text
}

// masked is an error in which secrets are not shown.
type masked struct {
	err  error
	text string
}

func (e *masked) Error() string { return e.text }

// Unwrap gives the error as it was: by its class a caller decides.
func (e *masked) Unwrap() error { return e.err }

func (o Order) maskError(err error) error {
	if err == nil {
		return nil
	}
	return &masked{err, o.mask(err.Error())}
}

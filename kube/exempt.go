package kube

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// exemption is a kind of requests that may be sent without a permit.
type exemption struct {
	name    string
	matches func(request *http.Request, segments []string) bool
}

// exemptions gives the name of the exemption that a request falls under.
func exemptions(prefix string, all []exemption) func(*http.Request) (string, bool) {
	return func(request *http.Request) (string, bool) {
		segments := apiPath(request, prefix)
		for _, one := range all {
			if segments != nil && one.matches(request, segments) {
				return one.name, true
			}
		}
		return "", false
	}
}

// exemptForAll are requests that change nothing though they are no GETs.
func exemptForAll() []exemption {
	return []exemption{
		{"access review", isAccessReview},
		{"dry run", isDryRun},
	}
}

// exemptForJournal are the journal's own writes. Objects are written and deleted by
// name; only the exports of one run may be deleted together.
func exemptForJournal(namespaces ...string) []exemption {
	var all []exemption
	for _, namespace := range namespaces {
		secrets := "api/v1/namespaces/" + namespace + "/secrets"
		all = append(all,
			exemption{"journal record", isNamedWrite("api/v1/namespaces/" + namespace + "/configmaps")},
			exemption{"journal secret", isNamedWrite(secrets)},
			exemption{"journal export", func(request *http.Request, segments []string) bool {
				return request.Method == http.MethodDelete && strings.Join(segments, "/") == secrets && selectsOneRun(request)
			}},
			exemption{"lease", isNamedWrite("apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases")},
			exemption{"journal namespace", func(request *http.Request, segments []string) bool {
				return request.Method == http.MethodPost && strings.Join(segments, "/") == "api/v1/namespaces" &&
					createsNamespace(request, namespace)
			}})
	}
	return all
}

// exemptForEvents is the creation of Events in one namespace. None is changed or deleted.
func exemptForEvents(namespace string) []exemption {
	return []exemption{{"event", func(request *http.Request, segments []string) bool {
		return request.Method == http.MethodPost && strings.Join(segments, "/") == "api/v1/namespaces/"+namespace+"/events"
	}}}
}

// exemptForApprovals is the creation of CertificateSigningRequests. None is approved, signed or deleted.
func exemptForApprovals() []exemption {
	return []exemption{{"approval", func(request *http.Request, segments []string) bool {
		return request.Method == http.MethodPost &&
			strings.Join(segments, "/") == "apis/certificates.k8s.io/v1/certificatesigningrequests"
	}}}
}

var oneRun = regexp.MustCompile(`^salve-run=[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// selectsOneRun tells whether a request is about the objects of one run alone.
func selectsOneRun(request *http.Request) bool {
	selectors := request.URL.Query()["labelSelector"]
	return len(selectors) == 1 && oneRun.MatchString(selectors[0])
}

// isAccessReview: reviews are questions that are asked by POST and stored nowhere
// (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access).
func isAccessReview(request *http.Request, segments []string) bool {
	reviews := []string{
		"apis/authorization.k8s.io/v1/subjectaccessreviews",
		"apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		"apis/authentication.k8s.io/v1/selfsubjectreviews", "apis/authentication.k8s.io/v1/tokenreviews",
	}
	return request.Method == http.MethodPost && slices.Contains(reviews, strings.Join(segments, "/"))
}

// isDryRun tells a write that the API server does not store
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run). It is narrow:
//   - DELETE is left out. With a body the API server ignores the query's dryRun.
//   - Only objects themselves, their status and scale: other subresources, such as exec
//     and binding, don't all know dry runs.
//   - Only groups of Kubernetes itself: an aggregated API server of somebody else may
//     not know them either.
func isDryRun(request *http.Request, segments []string) bool {
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		return false
	}
	if !slices.Equal(request.URL.Query()["dryRun"], []string{"All"}) {
		return false
	}
	below, ok := builtIn(segments)
	if !ok {
		return false
	}
	if len(below) > 2 && below[0] == "namespaces" {
		below = below[2:]
	}
	switch len(below) {
	case 1, 2:
		return true
	case 3:
		return below[2] == "status" || below[2] == "scale"
	}
	return false
}

// builtIn gives what follows group and version of a path in Kubernetes' own groups.
func builtIn(segments []string) (below []string, ok bool) {
	switch {
	case len(segments) > 2 && segments[0] == "api":
		return segments[2:], true
	case len(segments) > 3 && segments[0] == "apis":
		group := segments[1]
		return segments[3:], !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
	}
	return nil, false
}

// isNamedWrite matches the creation of objects of one collection, and the change and
// deletion of one of them.
func isNamedWrite(collection string) func(*http.Request, []string) bool {
	return func(request *http.Request, segments []string) bool {
		path := strings.Join(segments, "/")
		switch request.Method {
		case http.MethodPost:
			return path == collection
		case http.MethodPut, http.MethodPatch, http.MethodDelete:
			name, below := strings.CutPrefix(path, collection+"/")
			return below && name != "" && !strings.Contains(name, "/")
		}
		return false
	}
}

// maxNamespaceBody is far more than a namespace without data takes.
const maxNamespaceBody = 64 << 10

// createsNamespace tells whether the request's body is the namespace of that name.
func createsNamespace(request *http.Request, name string) bool {
	if request.GetBody == nil {
		return false
	}
	body, err := request.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(body, maxNamespaceBody))
	if err != nil {
		return false
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return false
	}
	namespace, ok := object.(*corev1.Namespace)
	return ok && namespace.Name == name
}

package apiserver

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discover answers what is not about objects: which groups, versions and resources are served.
func (s *Server) discover(asked *Request) Response {
	path := strings.Trim(asked.path, "/")
	var answer runtime.Object
	switch group, version, isGroup := strings.Cut(strings.TrimPrefix(path, "apis/"), "/"); {
	case asked.Verb != "get":
	case path == "api":
		answer = &metav1.APIVersions{Versions: []string{"v1"}}
	case path == "api/v1":
		answer = s.resources(schema.GroupVersion{Version: "v1"})
	case path == "apis":
		answer = s.groups()
	case isGroup:
		answer = s.resources(schema.GroupVersion{Group: group, Version: version})
	}
	if list, empty := answer.(*metav1.APIResourceList); answer == nil || empty && len(list.APIResources) == 0 {
		return s.Refuse(asked, apierrors.NewGenericServerResponse(
			http.StatusNotFound, asked.Verb, schema.GroupResource{}, "", "404 page not found", 0, true))
	}
	return s.Answer(asked, http.StatusOK, answer)
}

func (s *Server) groups() *metav1.APIGroupList {
	list := &metav1.APIGroupList{}
	for _, kind := range s.kinds {
		last := len(list.Groups) - 1
		if kind.Group == "" || last >= 0 && list.Groups[last].Name == kind.Group {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: kind.GroupVersion().String(), Version: kind.Version}
		list.Groups = append(list.Groups, metav1.APIGroup{
			Name: kind.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		})
	}
	return list
}

func (s *Server) resources(of schema.GroupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{GroupVersion: of.String()}
	for _, kind := range s.kinds {
		if kind.GroupVersion() != of {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: kind.Resource, Kind: kind.Kind, Namespaced: kind.Namespaced, Verbs: kind.verbs(),
		})
		for _, subresource := range kind.subresources {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: kind.Resource + "/" + subresource, Kind: "Eviction", Group: "policy", Version: "v1",
				Namespaced: kind.Namespaced, Verbs: []string{"create"},
			})
		}
	}
	return list
}

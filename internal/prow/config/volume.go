package config

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// volumes reads the volumes of a pod with what they name.
func (r *reader) volumes(f field) []volume {
	var volumes []volume
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		var read volume
		r.entries(item, path, func(f field) {
			if f.name == "name" {
				read.name = r.text(f)
			}
		})
		from := "volume " + read.name
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "name":
			case "secret":
				read.references = append(read.references, r.reference(f.value, f.path(), Secret, from))
			case "configmap":
				read.references = append(read.references, r.reference(f.value, f.path(), ConfigMap, from))
			case "projected":
				read.references = append(read.references, r.projected(f, from)...)
			case "csi", "azurefile", "cephfs", "cinder", "flexvolume", "iscsi", "rbd", "scaleio", "storageos":
				read.references = append(read.references, r.driver(f, from)...)
			default:
				return knownVolumeField(f.name)
			}
			return true
		})
		volumes = append(volumes, read)
	})
	return volumes
}

func (r *reader) projected(f field, from string) []Reference {
	var references []Reference
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "sources" {
			return f.name == "defaultmode"
		}
		r.each(f.value, f.path(), func(item *yaml.Node, path string) {
			r.fields(item, path, func(f field) bool {
				switch f.name {
				case "secret":
					references = append(references, r.reference(f.value, f.path(), Secret, from))
				case "configmap":
					references = append(references, r.reference(f.value, f.path(), ConfigMap, from))
				case "downwardapi", "serviceaccounttoken", "clustertrustbundle", "podcertificate":
				default:
					return false
				}
				return true
			})
		})
		return true
	})
	return references
}

// driver reads the Secret that a driver's volume names, in whatever way it does.
func (r *reader) driver(f field, from string) []Reference {
	var references []Reference
	r.entries(f.value, f.path(), func(entry field) {
		switch entry.name {
		case "secretName":
			references = append(references, Reference{Kind: Secret, Name: r.text(entry), From: from,
				Position: r.at(entry.value)})
		case "secretRef", "nodePublishSecretRef":
			references = append(references, r.reference(entry.value, entry.path(), Secret, from))
		}
	})
	return references
}

// The fields of Kubernetes 1.36 that say nothing of interest here, in lower case:
// https://github.com/kubernetes/api/blob/master/core/v1/types.go

func knownPodField(name string) bool {
	return slices.Contains([]string{"activedeadlineseconds", "affinity", "automountserviceaccounttoken", "dnsconfig",
		"dnspolicy", "enableservicelinks", "ephemeralcontainers", "hostaliases", "hostipc", "hostname",
		"hostnameoverride", "hostnetwork", "hostpid", "hostusers", "nodename", "nodeselector", "os", "overhead",
		"preemptionpolicy", "priority", "priorityclassname", "readinessgates", "resourceclaims", "resources",
		"restartpolicy", "runtimeclassname", "schedulername", "schedulinggates", "securitycontext", "sethostnameasfqdn",
		"shareprocessnamespace", "subdomain", "terminationgraceperiodseconds", "tolerations",
		"topologyspreadconstraints", "workloadref", "schedulinggroup"}, name)
}

func knownContainerField(name string) bool {
	return slices.Contains([]string{"imagepullpolicy", "lifecycle", "livenessprobe", "ports", "readinessprobe",
		"resizepolicy", "resources", "restartpolicy", "restartpolicyrules", "securitycontext", "startupprobe", "stdin",
		"stdinonce", "terminationmessagepath", "terminationmessagepolicy", "tty", "volumedevices", "workingdir"}, name)
}

func knownVolumeField(name string) bool {
	return slices.Contains([]string{"awselasticblockstore", "azuredisk", "downwardapi", "emptydir", "ephemeral", "fc",
		"flocker", "gcepersistentdisk", "gitrepo", "glusterfs", "hostpath", "image", "nfs", "persistentvolumeclaim",
		"photonpersistentdisk", "portworxvolume", "quobyte", "vspherevolume"}, name)
}

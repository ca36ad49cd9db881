// Package configmap keeps records and leases in the Kubernetes cluster that is
// being repaired, so that whoever runs next finds them, on whatever machine.
//
// A record is a row of ConfigMaps, each of which takes lines until it is full; a
// lease is a coordination.k8s.io Lease. Lines are only added, under the
// resourceVersion of what was read: two writers can't both believe that theirs is
// the next line. It knows nothing of what a line means, and it never removes one.
package configmap

// Package configmap keeps records, exports, keys and leases in a Kubernetes cluster,
// so that whoever runs next finds them, on whatever machine.
//
// A record is a row of ConfigMaps, each of which takes lines until it is full; a
// lease is a coordination.k8s.io Lease, which also names the open run of its target
// and the head of its record. Lines are only added, under the resourceVersion of
// what was read: two writers can't both believe that theirs is the next line. Keys
// are one Secret for each runbook; exports are Secrets in a namespace of their own.
//
// It knows nothing of what a line means, and it never removes one of an open run.
package configmap

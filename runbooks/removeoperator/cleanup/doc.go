// Package cleanup is what an operator leaves in a cluster when it is retired:
// definitions and their objects, what calls into its namespace, workloads, rights,
// and the namespace.
//
// What can't be read is an error and never taken for absent. What is removed is what
// was read or exported, by its UID; what is gone meanwhile is done. A finalizer is
// taken off only when it is the operator's own, and only from an object that is being
// deleted.
package cleanup

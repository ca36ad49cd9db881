// Package managed is the managed cluster of the embedded Azure when it is a real one: what happens to machines and
// pools over there is done here to Node objects, workloads and pods, through the cluster's API server.
//
// Nothing here boots: kwok, or whatever takes the place of kubelets in the cluster, makes nodes Ready and pods run. The
// cluster's own scheduler and controllers do the rest.
//
// Changes are applied in their order by one goroutine, each as often as it takes: API servers may be killed and come
// back. Everything that is made carries OwnerLabel. What it must never do: change or remove an object without that
// label, other than the pods on its own nodes; or make a World wait.
package managed

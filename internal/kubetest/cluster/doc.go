// Command cluster runs a control plane until it is interrupted, and prints where
// its kubeconfig is: a cluster to try things on, with kwok in place of kubelets.
//
// It is for demonstrations on one's own machine; nothing in it outlives it.
package main

// Package served serves an embedded Azure over HTTPS on the loopback interface, with a real cluster as its managed one.
//
// It is for test environments: whoever reaches the port on this machine is let in, may inject faults and gets the
// kubeconfig that is handed out, because the embedded Azure takes any credential. So it listens nowhere but on
// loopback, and its authority signs for nothing else. A token for the control endpoint alone would only pretend to
// guard something.
//
// What it must never do: keep a key on disk, serve a cluster that it was not given, or know of the runbooks.
package served

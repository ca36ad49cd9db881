// Package azuresim is the embedded Azure: ARM's REST over a model of one AKS cluster, and Kubernetes' REST over the
// cluster itself (package apiserver), both in process. Instead of the embedded cluster a real one can be given: package
// managed makes it what the model says, package served serves both.
//
// It exists so that a recovery can be rehearsed, tested and cut at every call without a subscription, without sockets
// and on any clock, virtual time included. The SDK's own clients reach it through World.Transport, client-go's through
// World.KubernetesConfig, as they reach the real ones; any other client reaches it when the World is served over HTTPS.
// What a world looks like and what goes wrong in it is a Scenario, a YAML file.
//
// It deploys ARM's JSON templates too (package template reads them), to a resource group or to the subscription. A
// deployment changes the cluster and its pools by the rules of their own calls; of everything else it keeps what it was
// sent and shows it again: it makes no machines, networks or identities.
//
// It is deterministic: names, identifiers and delays are derived from the seed and from what they name, never from a
// shared stream, so that concurrent callers do not change them.
//
// What it must never do: reach a network or a file other than a scenario, use any clock but the injected one,
// know of the engine or the runbooks, or decide for its client; or say that something is absent which it could not see:
// 404 is for what is absent under a parent that is there, and what it does not know it answers with 501. What it takes
// for true of the real service, with the source for each, is a table in docs/embedded-azure.md.
//
// A test injects hazards with hooks on the requests that it names (hooks.go), and acts as somebody else would
// (others.go):
//
//	remove := azuresim.Requests{Method: "DELETE", Path: "*/agentPools/system"}
//	world.Before(remove, func() { world.CordonPool(standIn) })       // right before the pool is deleted
//	world.After(put, func() { world.WritePool("system", tags, 0) })  // a rival's PUT, right after ours
//	world.Lose(remove, azuresim.DropAfter)                           // executed, and the answer is lost
//	world.Delay(put, 5*time.Minute)                                  // or late
//	world.Rewrite(get, func(pool map[string]any) { pool["name"] = "other" })
//	world.Answer(get, 404, azuresim.ErrorBody("SubscriptionNotFound", "…"))
//	world.Answer(azuresim.Requests{API: "kubernetes", Method: "list", Path: "nodes"}, 200, &corev1.NodeList{})
//
// Layers, one way: the model (state and transitions) knows neither HTTP nor the callers, and acts on the cluster
// through the interface Kubernetes; the REST side decodes and answers; the embedded cluster has an API server and a
// small set of controllers.
package azuresim

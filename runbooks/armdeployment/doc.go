// Package armdeployment is the runbook arm-deployment: it deploys an ARM template,
// and goes on with what an earlier process began. Pipelines run it for their ARM
// steps.
//
// It never replaces a deployment that is still active, never begins one twice, and
// never takes another's success for its own.
package armdeployment

// Package deploymentstack is the runbook deployment-stack: it makes an Azure deployment stack what a template says, and
// goes on with what an earlier process began. Pipelines run it for their ARMStack steps.
//
// It never updates a stack that something still works on, never updates one twice for the same run, never takes
// another's success for its own, and never deletes a stack. What a stack lets go is deleted or detached by ARM, as the
// step says.
package deploymentstack

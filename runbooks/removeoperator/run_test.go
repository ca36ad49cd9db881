package removeoperator_test

import (
	"testing"

	"salve/runbook"
)

func TestARetiredOperatorIsRemoved(t *testing.T) {
	o := retired(t)
	o.deployment(0)
	o.widget("plain")
	o.widget("stuck", held(o.finalizer()))
	o.object(o.gadgets, "Gadget", "", "wide", held("sub."+o.finalizer()))
	o.ends(o.run(), runbook.Remediated)
	o.removed()
	t.Log(o.story())
}

package brief_test

import (
	"strconv"
	"strings"
	"testing"

	"salve/internal/prow/brief"
)

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	many := make([]string, 53)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	if some := brief.Some(many); len(some) != 51 || some[49] != "49" || some[50] != "and 3 more" {
		t.Error(some)
	}
	if some := brief.Some(many[:50]); len(some) != 50 || some[49] != "49" {
		t.Error(some)
	}
	if many[50] != "50" {
		t.Error("the list itself was changed:", many[50])
	}
	if listed := brief.List(many); !strings.HasSuffix(listed, "49, and 3 more") {
		t.Error(listed)
	}
	if listed := brief.List(nil); listed != "none" {
		t.Error(listed)
	}
}

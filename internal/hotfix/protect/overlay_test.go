//go:build linux

package protect

import (
	"fmt"
	"testing"
)

func TestOverlaysOfTheMountTable(t *testing.T) {
	table := `22 27 0:21 / /proc rw,nosuid - proc proc rw
30 1 0:29 / / rw,relatime shared:1 master:2 - overlay overlay rw,lowerdir=/a:/b\040c:/d,upperdir=/u\054p,workdir=/w
31 30 0:30 / /merged\040x rw - overlay none rw,lowerdir+=/e,lowerdir+=/f,upperdir=/g
32 30 0:31 / /x rw - overlay
short
33 30 8:1 /overlay /y rw - ext4 /dev/sda1 rw
`
	got := fmt.Sprint(parseOverlays([]byte(table)))
	if want := "[{/ [/a /b c /d /u,p]} {/merged x [/e /f /g]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzOverlays(f *testing.F) {
	f.Add([]byte(`30 1 0:29 / / rw - overlay overlay rw,lowerdir=/a:/b\040c,upperdir=/u\054p`))
	f.Fuzz(func(_ *testing.T, table []byte) {
		m := &Map{overlays: parseOverlays(table)}
		_ = m.layers([]string{"/a/b", "/"})
	})
}

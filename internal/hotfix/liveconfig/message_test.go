//go:build linux

package liveconfig

import (
	"bytes"
	"testing"
)

func TestDecode(t *testing.T) {
	for name, row := range map[string]struct {
		message string
		want    answer
		refused bool
	}{
		"both fields":         {message: "\x0a\x01a\x12\x02{}", want: answer{"a", "{}"}},
		"none":                {},
		"in another order":    {message: "\x12\x02{}\x0a\x01a", want: answer{"a", "{}"}},
		"the last one counts": {message: "\x12\x01x\x12\x02{}", want: answer{"", "{}"}},
		"fields of later": {
			message: "\x18\x96\x01\x21\x01\x02\x03\x04\x05\x06\x07\x08\x2d\x01\x02\x03\x04\x32\x01z\x12\x02{}",
			want:    answer{"", "{}"},
		},
		"a number for a text":     {message: "\x10\x01", refused: true},
		"a text that is no UTF-8": {message: "\x12\x01\xff", refused: true},
		"a group":                 {message: "\x13\x14", refused: true},
		"no number":               {message: "\x02\x00", refused: true},
		"cut off in a length":     {message: "\x12\x80", refused: true},
		"longer than there is":    {message: "\x12\x05{}", refused: true},
		"a length beyond all":     {message: "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", refused: true},
		"a number without end":    {message: "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", refused: true},
		"cut off in a number":     {message: "\x21\x01", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode([]byte(row.message))
			if (err != nil) != row.refused || got != row.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(request("aksNodeController"))
	f.Add([]byte("\x00\x00\x00\x00\x04\x12\x02{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		message, err := oneMessage(bytes.NewReader(raw))
		if err != nil {
			return
		}
		if got, err := decode(message); err == nil && len(got.component)+len(got.config) > len(raw) {
			t.Errorf("%d bytes gave %+v", len(raw), got)
		}
	})
}

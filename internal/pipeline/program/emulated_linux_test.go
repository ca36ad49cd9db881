package program

import "testing"

func TestEmulatorsOfTheKernel(t *testing.T) {
	const header = "enabled\ninterpreter /proc/self/exe\nflags: OCF\noffset 0\n"
	const magic, mask = "magic 7f454c4602010100\n", "mask ffffffffffffff00\n"
	head := []byte("\x7fELF\x02\x01\x01\x03 and so on")
	for _, test := range []struct {
		name, entry string
		want        bool
	}{
		{"masked", header + magic + mask, true},
		{"without a mask", header + magic, false},
		{"disabled", "disabled\n" + header[8:] + magic + mask, false},
		{"its interpreter is gone", "enabled\ninterpreter /no/qemu\noffset 0\n" + magic + mask, false},
		{"by name", "enabled\ninterpreter /proc/self/exe\nextension .exe\n", false},
		{"beyond the file", "enabled\ninterpreter /proc/self/exe\noffset 4000\n" + magic + mask, false},
	} {
		if got := claims(test.entry, head); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"salve/internal/hotfix/protect"
)

// The places of this program, of its unit and of the unit's settings, as
// deploy/salve-node.service has them. Of the unit every place counts where systemd
// looks for parts of it: https://www.freedesktop.org/software/systemd/man/systemd.unit.html.
const (
	installedAs    = "/opt/azure/containers/salve-node"
	unitSettings   = "/etc/default/salve-node"
	ownUnit        = "salve-node.service"
	unitsByPrefix  = "salve-.service.d"
	unitsOfAllKind = "service.d"
	runningProgram = "/proc/self/exe"
)

// protected are the places that scripts never write to, whatever --root and --allow
// say: without them a boot would not come to the baked program, or not to the one that
// was verified.
func (n *node) protected() []protect.Place {
	places := []protect.Place{
		{Path: n.settings.baked},
		{Path: n.settings.staged, Kind: protect.Family},
		{Path: n.settings.pointer, Kind: protect.Family},
		{Path: n.settings.signedPointer, Kind: protect.Family},
		{Path: n.settings.trustRoot, Kind: protect.Family},
		{Path: n.settings.state, Kind: protect.Tree},
		{Path: runningProgram, Kind: protect.Copies},
		{Path: installedAs},
		{Path: unitSettings},
	}
	for _, folder := range []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system", "/lib/systemd/system"} {
		places = append(places,
			protect.Place{Path: filepath.Join(folder, ownUnit), Kind: protect.Family},
			protect.Place{Path: filepath.Join(folder, unitsByPrefix), Kind: protect.Tree},
			protect.Place{Path: filepath.Join(folder, unitsOfAllKind), Kind: protect.Tree})
	}
	// How this process was called may be a link, or another name of the same program.
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		places = append(places, protect.Place{Path: called})
	}
	return places
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestWhateverTheStagedFileIs: in any doubt it does not run, and nothing is marked bad that has not run.
func TestWhateverTheStagedFileIs(t *testing.T) {
	spoiled := func(spoil func(m *machine)) []preparing { return []preparing{spoil} }
	file := func(suffix string, content []byte) []preparing {
		return spoiled(func(m *machine) { check(m.t, os.WriteFile(m.staged+suffix, content, 0o755)) })
	}
	instead := func(put func(path string) error) []preparing {
		return spoiled(func(m *machine) {
			check(m.t, os.Rename(m.staged, m.staged+".moved"))
			check(m.t, put(m.staged))
		})
	}
	all := map[string]situation{
		"nothing is named": {set: func(*machine) {}, ran: baked, code: bakedCode, reason: slot.NoHotfix},
		"it is gone":       {with: spoiled(func(m *machine) { check(m.t, os.Remove(m.staged)) }), ran: baked, code: bakedCode, reason: slot.NotStaged},
		"its manifest is gone": {with: spoiled(func(m *machine) { check(m.t, os.Remove(m.staged+".manifest")) }), ran: baked, code: bakedCode,
			reason: slot.NotStaged},
		"its manifest is cut off":             {with: file(".manifest", []byte(`{"schemaV`)), ran: baked, code: bakedCode, reason: slot.Unreadable},
		"it is a pipe":                        {with: instead(func(path string) error { return syscall.Mkfifo(path, 0o755) }), ran: baked, code: bakedCode, reason: slot.NotExecutable},
		"it is a folder":                      {with: instead(func(path string) error { return os.Mkdir(path, 0o755) }), ran: baked, code: bakedCode, reason: slot.NotExecutable},
		"it is a link to a good one":          {with: instead(func(path string) error { return os.Symlink(path+".moved", path) }), ran: baked, code: bakedCode, reason: slot.NotExecutable},
		"it can't be executed":                {with: spoiled(func(m *machine) { check(m.t, os.Chmod(m.staged, 0o644)) }), ran: baked, code: bakedCode, reason: slot.NotExecutable},
		"it is another good program":          {with: file("", hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.9"})), ran: baked, code: bakedCode, reason: slot.DigestDiffers},
		"the record of its trials is cut off": {with: file(".trial", []byte("{")), ran: baked, code: bakedCode, reason: slot.Unreadable},
		"the record of its trials is a folder": {with: spoiled(func(m *machine) { check(m.t, os.Mkdir(m.staged+".trial", 0o755)) }), ran: baked, code: bakedCode,
			reason: slot.Unreadable},
		"the pointer was lowered": {with: spoiled(func(m *machine) { m.write("pointer.json", `{"version":"202604.01.1"}`) }), ran: baked, code: bakedCode,
			reason: slot.Older},
		"the pointer was withdrawn": {with: spoiled(func(m *machine) { m.write("pointer.json", `{"version":""}`) }), ran: baked, code: bakedCode, reason: slot.NoHotfix},
		"the pointer is a pipe": {with: spoiled(func(m *machine) {
			check(m.t, os.Remove(m.flags["pointer"]))
			check(m.t, syscall.Mkfifo(m.flags["pointer"], 0o600))
		}), ran: baked, code: bakedCode, reason: slot.NoHotfix},
	}
	for name, image := range hotfixtest.Unfit(t, stagedVersion) {
		// With a manifest that agrees: as if it had been staged by mistake.
		all["it is "+name] = situation{set: func(m *machine) { m.stageImage(image) }, ran: baked, code: bakedCode, reason: slot.NotAProgram}
	}
	runSituations(t, all)
}

// TestWhateverTheMachineLacks: the baked program runs, or the staged one where there is enough for it.
func TestWhateverTheMachineLacks(t *testing.T) {
	all := map[string]situation{
		"salve-node is missing":                {with: []preparing{nodeIs(nil, 0)}, ran: baked, code: bakedCode},
		"salve-node can't be executed":         {with: []preparing{nodeIs([]byte("#!/bin/sh\nexit 0\n"), 0o644)}, ran: baked, code: bakedCode},
		"salve-node is garbage":                {with: []preparing{nodeIs([]byte("\x7fELF and no more"), 0o755)}, ran: baked, code: bakedCode},
		"salve-node is half of itself":         {with: []preparing{halfNode}, ran: baked, code: bakedCode},
		"salve-node is a folder":               {with: []preparing{nodeIs(nil, os.ModeDir)}, ran: baked, code: bakedCode},
		"salve-node fails":                     {with: []preparing{nodeIs([]byte("#!/bin/sh\nexit 1\n"), 0o755)}, ran: baked, code: bakedCode},
		"salve-node is killed":                 {with: []preparing{nodeIs([]byte("#!/bin/sh\nkill -9 $$\n"), 0o755)}, ran: baked, code: bakedCode},
		"nothing is there to provision":        {with: []preparing{without("aks-node-controller-config.json")}, ran: []string{"staged provision"}},
		"the other configuration alone":        {with: []preparing{without("aks-node-controller-config.json"), with("aks-node-controller-nbc-cmd.sh")}, ran: []string{"staged provision --nbc-cmd=nbc-cmd.sh"}},
		"both configurations":                  {with: []preparing{with("aks-node-controller-nbc-cmd.sh")}, ran: []string{stagedRuns + " --nbc-cmd=nbc-cmd.sh"}},
		"the variables of a shell":             {with: []preparing{before("export got=1 stop=143 hup=129 code=3 last=4 final=1 IFS=/ dir=/ baked=/bin/false")}, ran: staged},
		"SIGCHLD is ignored":                   {with: []preparing{before(`trap "" CHLD`)}, ran: staged},
		"SIGURG is ignored":                    {with: []preparing{before(`trap "" URG`)}, ran: baked, code: bakedCode, reason: reasonUnprepared},
		"SIGTERM and SIGHUP are ignored":       {with: []preparing{before(`trap "" TERM HUP INT QUIT USR1 USR2 CONT PIPE`)}, ran: staged},
		"standard input is closed":             {with: []preparing{before("exec <&-")}, ran: baked, code: bakedCode},
		"standard output is closed":            {does: becomes(`echo "ran 202604.01.2 $*" >&5`), with: []preparing{before("exec 5>&1 >&-")}, ran: staged},
		"standard error is closed":             {with: []preparing{before("exec 2>&-")}, ran: staged},
		"standard error is a full pipe":        {with: []preparing{fullStandardError}, ran: staged},
		"no folder for events":                 {with: []preparing{func(m *machine) { m.write("state", "a file") }}, ran: staged},
		"prepare gets the budget of a moment":  {with: []preparing{func(m *machine) { m.flags["budget"] = "1ns" }}, ran: baked, code: bakedCode, reason: reasonUnprepared},
		"prepare does not end":                 {with: []preparing{isLocked, func(m *machine) { m.flags["budget"] = "6s" }}, during: stopsPrepare, ran: baked, code: bakedCode, reason: reasonUnprepared, problem: "the budget ended"},
		"prepare is killed":                    {with: []preparing{isLocked}, during: killsPrepare, ran: baked, code: bakedCode, reason: reasonUnprepared, problem: "killed"},
		"another process fetches all the time": {with: []preparing{isLocked, func(m *machine) { m.flags["budget"] = "8s" }}, ran: baked, code: bakedCode, reason: slot.NotStaged},
		"the baked program does not say its version": {with: []preparing{func(m *machine) { m.flags["current"] = "" }}, ran: baked, code: bakedCode,
			reason: slot.NoHotfix},
		"the file system is read-only":                        {with: []preparing{onDisk("size=8m"), isConfirmed, readOnly}, root: true, ran: staged},
		"the file system is read-only, and nothing confirmed": {with: []preparing{onDisk("size=8m"), readOnly}, root: true, ran: baked, code: bakedCode, reason: reasonNotCounted},
		"the disk is full":                                    {with: []preparing{onDisk("size=8m"), isConfirmed, fill}, root: true, ran: staged},
		"the disk is full, and nothing confirmed":             {with: []preparing{onDisk("size=8m"), fill}, root: true, ran: baked, code: bakedCode, reason: reasonNotCounted},
		"the disk executes nothing":                           {with: []preparing{onDisk("size=8m,noexec")}, root: true, ran: baked, code: bakedCode},
		"/proc is missing":                                    {with: []preparing{inNamespace("mount -t tmpfs none /proc")}, root: true, ran: baked, code: bakedCode, reason: reasonUnprepared},
		"/run is missing":                                     {with: []preparing{inNamespace("mount -t tmpfs -o ro none /run")}, root: true, ran: staged},
		"/dev is empty":                                       {with: []preparing{inNamespace("mount -t tmpfs -o ro none /dev")}, root: true, ran: baked, code: bakedCode},
		"/sys is missing":                                     {with: []preparing{inNamespace("mount -t tmpfs -o ro none /sys")}, root: true, ran: staged},
		"no place for another process":                        {with: []preparing{processes(1)}, root: true, ran: baked, code: bakedCode},
		"no place for threads":                                {with: []preparing{processes(2)}, root: true, ran: baked, code: bakedCode},
		"no processes for nobody":                             {with: []preparing{asNobody}, root: true, ran: baked, code: bakedCode},
	}
	for name, at := range map[string]string{"1970": "1970-01-01T00:00:07Z", "2038": "2038-01-19T03:14:08Z",
		"2106": "2106-02-07T06:28:16Z"} {
		all["the clock is at "+name] = situation{with: []preparing{timeIs(at)}, ran: staged, reason: slot.Staged}
		all["the clock is at "+name+", and it fails"] = situation{does: hotfixtest.Behaviour{Exit: 1}, with: []preparing{timeIs(at), bootedBefore},
			ran: append(slices.Clone(both), baked...), code: bakedCode}
	}
	for _, few := range []int{4, 5, 6, 7, 8, 9, 10, 11, 12} {
		all[fmt.Sprintf("%d descriptors", few)] = situation{busybox: true, with: []preparing{tiny, before(fmt.Sprintf("ulimit -n %d", few))},
			either: true, code: bakedCode}
	}
	for _, megabytes := range []int{64, 128, 256, 512, 700, 1000, 1500, 2500} {
		all[fmt.Sprintf("%d MB of address space", megabytes)] = situation{
			with: []preparing{tiny, before(fmt.Sprintf("ulimit -v %d", megabytes<<10))}, either: true, code: bakedCode}
	}
	runSituations(t, all)
}

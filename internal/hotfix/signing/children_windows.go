package signing

import "os/exec"

// endWithChildren leaves what the command has started: Windows has no process groups. Its output is not waited for.
func endWithChildren(*exec.Cmd) {}

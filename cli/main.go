package cli

// Main runs the command that the process's arguments name and gives its exit code.
func Main() int { return execute(newApp()) }

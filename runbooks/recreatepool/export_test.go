package recreatepool

// StandInName is the name of the stand-in of a Linux pool.
func StandInName(in Inputs) string { return standInName(in.poolID(), "") }

package catalogue

// LimitHeld makes the observations of a run let go earlier.
func (o *Observer) LimitHeld(bytes int) { o.limit, o.relief = bytes, bytes }

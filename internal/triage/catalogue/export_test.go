package catalogue

// LimitHeld makes the observations of a run let go earlier.
func (o *Observer) LimitHeld(bytes int) { o.limit, o.relief = bytes, bytes }

// Spare is how many buffers wait for the next observation.
func (o *Observer) Spare() int { return len(o.spare) }

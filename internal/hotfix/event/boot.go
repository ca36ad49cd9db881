package event

// Boot is what the events say of one boot.
type Boot struct {
	Launch Event
	// Prepare and Fetch are nil where there was nothing to prepare or to fetch.
	Prepare, Fetch *Event
}

// The commands whose events make a boot.
const (
	commandLaunch  = "launch"
	commandPrepare = "prepare"
	commandFetch   = "fetch"
)

// LastBoot finds the last boot among events, the oldest first: the last launch, and what came before it and after the
// one before.
func LastBoot(events []Event) (Boot, bool) {
	at := len(events) - 1
	for at >= 0 && events[at].Command != commandLaunch {
		at--
	}
	if at < 0 {
		return Boot{}, false
	}
	boot := Boot{Launch: events[at]}
	for at--; at >= 0 && events[at].Command != commandLaunch; at-- {
		switch one := events[at]; {
		case one.Time.Before(boot.Launch.Time): // by hand, between two boots
		case one.Command == commandPrepare && boot.Prepare == nil:
			boot.Prepare = &one
		case one.Command == commandFetch && boot.Fetch == nil:
			boot.Fetch = &one
		}
	}
	return boot, true
}

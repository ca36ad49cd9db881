package postmortem

import (
	"regexp"
	"strconv"
)

var (
	// share is "3 of 5 nodes are Ready".
	share = regexp.MustCompile(`(?i)\b([0-9]+) of (?:the )?([0-9]+)\b[^.;]*` +
		`\b(?:ready|serv\w+|running|healthy|available|joined)\b`)
	// harm is "18 writes failed".
	harm = regexp.MustCompile(`(?i)\b[1-9][0-9]*\b[^.;]*\b(?:fail\w*|strand\w*|stuck|lost|missing|not ready|evict\w*|` +
		`unschedulable|pending|block\w*|wedg\w*|errors?|refus\w*|orphan\w*|unhealthy|down|broken|empty|crash\w*|` +
		`time\w* out|unavailable|leaked|throttl\w*|without)\b`)
)

// harms tells whether a reason counts something that is not as it ought to be. That all is well is no impact, however
// many there are of it.
func harms(reason string) bool {
	if m := share.FindStringSubmatch(reason); m != nil {
		some, err := strconv.Atoi(m[1])
		all, err2 := strconv.Atoi(m[2])
		return err == nil && err2 == nil && some < all
	}
	return harm.MatchString(reason)
}

package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a zone means the same on every machine
)

// zone is a time zone that a document names.
type zone struct {
	location *time.Location
	// region is where the abbreviation is used; it checks that PST isn't said of a day in July.
	region *time.Location
}

// abbreviation is the offset in minutes and the region of an unambiguous abbreviation. IST, CST, CDT, BST, AST, GST
// and SST mean different zones to different people, and are asked.
func abbreviation(name string) (minutes int, region string, ok bool) {
	switch name {
	case "UTC", "GMT", "Z", "UCT":
		return 0, "UTC", true
	case "PST":
		return -480, "America/Los_Angeles", true
	case "PDT":
		return -420, "America/Los_Angeles", true
	case "MST":
		return -420, "America/Denver", true
	case "MDT":
		return -360, "America/Denver", true
	case "EST":
		return -300, "America/New_York", true
	case "EDT":
		return -240, "America/New_York", true
	case "CET":
		return 60, "Europe/Berlin", true
	case "CEST":
		return 120, "Europe/Berlin", true
	case "EET":
		return 120, "Europe/Helsinki", true
	case "EEST":
		return 180, "Europe/Helsinki", true
	case "JST":
		return 540, "Asia/Tokyo", true
	case "KST":
		return 540, "Asia/Seoul", true
	case "AEST":
		return 600, "Australia/Sydney", true
	case "AEDT":
		return 660, "Australia/Sydney", true
	}
	return 0, "", false
}

func regionOf(name string) string {
	switch strings.TrimPrefix(strings.ToLower(name), "us ") {
	case "pt", "pacific", "pst/pdt", "pdt/pst", "us/pacific":
		return "America/Los_Angeles"
	case "et", "eastern", "est/edt", "edt/est", "us/eastern":
		return "America/New_York"
	case "central", "cst/cdt", "cdt/cst", "us/central":
		return "America/Chicago"
	case "mountain", "mst/mdt", "mdt/mst", "us/mountain":
		return "America/Denver"
	}
	if strings.Contains(name, "/") && strings.ToUpper(name) != name {
		return name
	}
	return ""
}

// namedZone is the zone of a name, with an offset beside it or not; ok is false for what is unknown or ambiguous.
func namedZone(name, offset string) (zone, bool) {
	if offset != "" {
		minutes, ok := parseOffset(offset)
		if name == "" {
			name = offset
		}
		return zone{location: time.FixedZone(name, minutes*60)}, ok
	}
	if minutes, region, ok := abbreviation(name); ok {
		place, err := time.LoadLocation(region)
		return zone{time.FixedZone(name, minutes*60), place}, err == nil
	}
	if region := regionOf(name); region != "" {
		place, err := time.LoadLocation(region)
		return zone{location: place}, err == nil
	}
	if minutes, ok := parseOffset(name); ok {
		return zone{location: time.FixedZone(name, minutes*60)}, true
	}
	return zone{}, false
}

// parseOffset reads +2, -08:00, +0530, UTC+2 and GMT-8 as minutes.
func parseOffset(text string) (int, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(text), "UTC"), "GMT")
	if len(text) < 2 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, minutes := strings.ReplaceAll(text[1:], ":", ""), "0"
	if len(hours) > 2 {
		hours, minutes = hours[:len(hours)-2], hours[len(hours)-2:]
	}
	h, err := strconv.Atoi(hours)
	m, err2 := strconv.Atoi(minutes)
	if err != nil || err2 != nil || h > 14 || m > 59 {
		return 0, false
	}
	if text[0] == '-' {
		return -h*60 - m, true
	}
	return h*60 + m, true
}

// setInstants gives the instant of each message whose date is known, and says the zone that prose names.
func setInstants(chats []*transcript, doc prose, told *time.Location, asked *questions) string {
	statement := statedZone(doc, told != nil, asked)
	name := statement.name
	if name == "" {
		name = statement.offset
	}
	common, ok := zone{location: told}, told != nil
	if !ok && name != "" {
		if common, ok = namedZone(statement.name, statement.offset); !ok {
			asked.ask(statement.line, "which time zone is %q? The name is unknown or means several", name)
		}
	}
	for _, chat := range chats {
		for i := range chat.entries {
			e := &chat.entries[i]
			here, known := common, ok
			if e.stamp.zone != "" {
				if here, known = namedZone(e.stamp.zone, ""); !known {
					asked.ask(chat.entries[0].message.Line, "which time zone is %q? The name is unknown or means "+
						"several", e.stamp.zone)
				}
			} else if !known && name == "" && told == nil {
				asked.ask(chats[0].entries[0].message.Line, "which time zone are the times in? Nothing tells it")
			}
			if known && e.message.Date != "" {
				e.message.At = here.instant(&e.message, asked)
			}
		}
	}
	return name
}

// statedZone is the zone of the document: what stands right before the chat goes before the rest; two that differ are
// asked about.
func statedZone(doc prose, told bool, asked *questions) zoneStatement {
	all := doc.zones
	for _, own := range doc.zones {
		if own.own {
			all = []zoneStatement{own}
		}
	}
	if len(all) == 0 {
		return zoneStatement{}
	}
	for _, other := range all[1:] {
		if other.name != all[0].name || other.offset != all[0].offset {
			if !told {
				asked.ask(other.line, "which time zone are the times in? Line %d says %s, this one %s", all[0].line,
					all[0].name+all[0].offset, other.name+other.offset)
			}
			return zoneStatement{}
		}
	}
	return all[0]
}

// instant is the time of a message in the zone; zero, and asked, if daylight saving makes it ambiguous.
func (z zone) instant(m *Message, asked *questions) time.Time {
	d, _ := parseDay(m.Date)
	c := m.Clock
	at := time.Date(d.year, time.Month(d.month), d.day, c.Hour, c.Minute, c.Second, 0, z.location)
	if at.Hour() != c.Hour || at.Minute() != c.Minute {
		asked.ask(m.Line, "%s %s doesn't exist in %s: the clock was put forward", m.Date, c, z.location)
		return time.Time{}
	}
	for _, step := range []time.Duration{time.Hour, -time.Hour, 30 * time.Minute, -30 * time.Minute} {
		if other := at.Add(step); other.Hour() == c.Hour && other.Minute() == c.Minute {
			asked.ask(m.Line, "%s %s was twice in %s: before or after the clock was put back?", m.Date, c, z.location)
			return time.Time{}
		}
	}
	if z.region != nil {
		_, offset := at.Zone()
		if _, there := at.In(z.region).Zone(); there != offset {
			asked.ask(1, "%s on %s? In %s the clocks show %s then: which is meant?", z.location, m.Date, z.region,
				fmt.Sprint(at.In(z.region).Format("MST")))
			return time.Time{}
		}
	}
	return at
}

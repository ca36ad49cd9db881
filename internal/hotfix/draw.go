package hotfix

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Node is what a decision asks of a machine.
type Node struct {
	Version string // of the program that is part of its image
	ID      string // by which it is drawn for a canary; empty where it isn't known
}

// MaxNodeID bounds the ID of a node, in bytes: it is that of a host's name.
const MaxNodeID = 253

// ParseNodeID gives an ID as nodes are drawn by it: in lower case, and without white space around it. Two machines that
// have the same are one to a canary, so what many have by default is none.
func ParseNodeID(text string) (string, error) {
	id := strings.ToLower(strings.TrimSpace(text))
	switch {
	case id == "":
		return "", errors.New("the ID of the node is empty")
	case len(id) > MaxNodeID:
		return "", fmt.Errorf("the ID of the node is longer than %d bytes", MaxNodeID)
	case strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", fmt.Errorf("the ID of the node, %s, has other characters than those of ASCII that can be seen", quote(id))
	case strings.Trim(id, "0-") == "" || strings.Trim(id, "f-") == "" || id == unsetUUID || id == "uninitialized":
		return "", fmt.Errorf("the ID of the node, %s, is what machines have that were given none", quote(id))
	}
	return id, nil
}

// unsetUUID is what boards of several makers have that was never set:
// https://github.com/systemd/systemd/blob/main/src/basic/id128-util.c and its history.
const unsetUUID = "03000200-0400-0500-0006-000700080009"

// Percent is a share of nodes, in hundredths of a percent: 0 to 10,000.
type Percent int

// draws is how many numbers there are to draw, as many as a Percent has values.
const draws = 100 * 100

// ParsePercent reads a number of JSON from 0 to 100, with two decimals at most and without exponent: what a draw can't
// tell apart is not read as something else.
func ParsePercent(text string) (Percent, error) {
	whole, decimals, dotted := strings.Cut(text, ".")
	const most = 2
	valid := digits(whole) && len(whole) >= 1 && len(whole) <= 3 && (whole[0] != '0' || whole == "0") &&
		digits(decimals) && len(decimals) <= most && dotted == (decimals != "")
	if !valid {
		return 0, fmt.Errorf("percent: %s is not a number from 0 to 100 with %d decimals at most", quote(text), most)
	}
	hundredths, err := strconv.Atoi(whole + (decimals + "00")[:most])
	if err != nil || hundredths > draws {
		return 0, fmt.Errorf("percent: %s is not between 0 and 100", quote(text))
	}
	return Percent(hundredths), nil
}

func (p Percent) String() string {
	text := fmt.Sprintf("%d.%02d", p/100, p%100)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalJSON writes the number as ParsePercent reads it.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON is ParsePercent.
func (p *Percent) UnmarshalJSON(raw []byte) (err error) {
	*p, err = ParsePercent(string(raw))
	return err
}

// drawn is the number of a node for a target, 0 to 9999: always the same one, and another target's has nothing to do
// with it. The lengths tell where a text ends, so no two pairs are one.
func drawn(id, target string) int {
	hash := sha256.New()
	hash.Write([]byte("salve canary 1\n")) // a hash never fails
	for _, text := range []string{id, target} {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) //nolint:gosec // G115: both are short
		hash.Write([]byte(text))
	}
	return int(binary.BigEndian.Uint64(hash.Sum(nil)) % draws)
}

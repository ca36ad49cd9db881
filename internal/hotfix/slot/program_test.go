//go:build linux

package slot_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestAnUnfitProgramIsRefusedWithWhatIsWrong: the event of a node is all that its operator sees of the file.
func TestAnUnfitProgramIsRefusedWithWhatIsWrong(t *testing.T) {
	good := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	spoilt := hotfixtest.Spoilt(good)
	length := uint64(len(good))
	const noELF = "it is not an ELF executable of 64 bits"
	for name, row := range map[string]struct {
		image   []byte
		problem string
	}{
		"empty":                          {spoilt["empty"], "it is empty"},
		"one byte":                       {spoilt["one byte"], noELF},
		"half a header":                  {good[:40], noELF},
		"a script":                       {spoilt["a script"], noELF},
		"an HTML page":                   {spoilt["an HTML page"], noELF},
		"zeros":                          {spoilt["zeros"], noELF},
		"of 32 bits":                     {with(good, elfClass, []byte{1}), noELF},
		"the greater byte first":         {with(good, elfOrder, []byte{2}), noELF},
		"another architecture":           {spoilt["wrong architecture"], "it is for machine 22; this one, "},
		"an object file":                 {with(good, elfType, number16(1)), "of type 1, not an executable"},
		"a core dump":                    {with(good, elfType, number16(4)), "of type 4, not an executable"},
		"segments of another size":       {with(good, elfSegmentSize, number16(32)), "its ELF header is damaged"},
		"more segments than can be":      {with(good, elfSegmentCount, number16(1001)), "its ELF header is damaged"},
		"its segments behind its end":    {with(good, elfSegments, number64(length+1)), "its ELF header is damaged"},
		"its segments nowhere":           {with(good, elfSegments, number64(1<<63)), "its ELF header is damaged"},
		"a header alone":                 {spoilt["a header alone"], "it is truncated: its table of segments can't be read"},
		"half its segments":              {with(good, elfSegments, number64(length-60)), "it is truncated: its table"},
		"truncated":                      {spoilt["truncated"], "it is truncated: a segment ends behind the file"},
		"a segment behind its end":       {withSegments(good, loadedSegment, offset, length), "a segment ends behind"},
		"a segment larger than the file": {withSegments(good, loadedSegment, fileSize, length+1), "a segment ends behind"},
		"a segment larger than numbers":  {withSegments(good, loadedSegment, fileSize, 1<<64-1), "a segment ends behind"},
		"no segments":                    {with(good, elfSegmentCount, number16(0)), "it has no segment to load"},
		"no loaded segment":              {unloaded(good), "it has no segment to load"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stage(t, s, row.image, target)
			expectUnfit(t, err, row.problem)
			expectNames(t, s, "node", "node-hotfix.lock")
		})
	}
}

// TestAProgramThatIsTooLargeIsRefused: one byte more than 256 MiB, without a disk's having to hold them.
func TestAProgramThatIsTooLargeIsRefused(t *testing.T) {
	s := newSlot(t)
	candidate := hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
	check(t, os.Truncate(candidate, slot.MaxProgram+1))
	_, err := stageFile(t, s, candidate, target)
	expectUnfit(t, err, "it has 268435457 bytes, more than 268435456")
	expectNames(t, s, "node", "node-hotfix.lock")
}

// TestSegmentsThatAreNotLoadedDoNotMatter: a stripped program may name what it no longer has.
func TestSegmentsThatAreNotLoadedDoNotMatter(t *testing.T) {
	s := newSlot(t)
	good := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	_, err := stage(t, s, withSegments(good, stackSegment, offset, 1<<62), target)
	check(t, err)
	expectChoice(t, s, target, slot.Staged)
}

func expectUnfit(t *testing.T, err error, problem string) {
	t.Helper()
	var unfit *slot.UnfitError
	if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "the program is unfit: ") ||
		!strings.Contains(err.Error(), problem) {
		t.Errorf("staging gave %v, want %q", err, problem)
	}
}

// Where things stand in an ELF file of 64 bits, in its header and in each of its segments.
// https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html
const (
	elfClass        = 4
	elfOrder        = 5
	elfType         = 16
	elfSegments     = 32
	elfSegmentSize  = 54
	elfSegmentCount = 56
	offset          = 8
	fileSize        = 32
	loadedSegment   = 1
	stackSegment    = 0x6474e551
)

func number16(value uint16) []byte { return binary.LittleEndian.AppendUint16(nil, value) }
func number64(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }

// with is an image that has other bytes at a place.
func with(image []byte, at int, bytes []byte) []byte {
	other := append([]byte{}, image...)
	copy(other[at:], bytes)
	return other
}

// withSegments is an image whose segments of a type have another value in a field.
func withSegments(image []byte, kind uint32, field int, value uint64) []byte {
	for _, at := range segmentsOf(image, kind) {
		image = with(image, at+field, number64(value))
	}
	return image
}

// unloaded is an image whose segments are all notes.
func unloaded(image []byte) []byte {
	for _, at := range segmentsOf(image, loadedSegment) {
		image = with(image, at, []byte{4, 0, 0, 0})
	}
	return image
}

func segmentsOf(image []byte, kind uint32) []int {
	var found []int
	at := int(binary.LittleEndian.Uint64(image[elfSegments:]))
	for range binary.LittleEndian.Uint16(image[elfSegmentCount:]) {
		if binary.LittleEndian.Uint32(image[at:]) == kind {
			found = append(found, at)
		}
		at += 56
	}
	return found
}

package grouping_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

// TestErrorsOfTheLanguageAreKnownByTheirFrame, however many words they have.
func TestErrorsOfTheLanguageAreKnownByTheirFrame(t *testing.T) {
	in := func(message, function string) grouping.Key {
		return grouping.Identify(text(message + "\n\tat org.port." + function + "(Quay.java:1)")).Key
	}
	for _, message := range []string{
		"runtime error: berth crane", "all goroutines are asleep, berth crane", "concurrent map berth crane",
		"close of closed channel berth crane", "send on closed channel berth crane", "interface conversion: berth crane",
		"stack overflow berth crane", "DATA RACE berth crane", "TypeError: berth crane", "ReferenceError: berth crane",
		"RangeError: berth crane", "KeyError: berth crane", "IndexError: berth crane", "AttributeError: berth crane",
		"ValueError: berth crane", "NameError: berth crane", "UnboundLocalError: berth crane",
		"ZeroDivisionError: berth crane", "RecursionError: berth crane", "NullPointerException: berth crane",
		"ClassCastException: berth crane", "ArrayIndexOutOfBoundsException: berth crane",
		"NumberFormatException: berth crane", "ArithmeticException: berth crane", "NoSuchElementException: berth crane",
		"StackOverflowError: berth crane", "NullReferenceException: berth crane",
		"called `Option::unwrap()` on a berth crane",
	} {
		if in(message, "a") == in(message, "b") {
			t.Errorf("%s: one key for two frames", message)
		}
	}
	if in("TideError: berth crane", "a") != in("TideError: berth crane", "b") {
		t.Error("an error of the project's own has two keys for one message")
	}
}

// TestFramesOfOthersAreSkipped: the language's, its standard library's, the test framework's.
func TestFramesOfOthersAreSkipped(t *testing.T) {
	for _, function := range []string{
		"runtime.gopanic", "testing.tRunner", "net/http.(*Client).Do", "encoding/json.Unmarshal", "internal/poll.(*FD).Read",
		"github.com/stretchr/testify/require.NoError", "github.com/onsi/gomega/internal.(*Assertion).To",
		"github.com/onsi/ginkgo/v2/internal.(*Suite).runNode", "gotest.tools/v3/assert.Equal", "gotest.tools/v3/poll.WaitOn",
		"gotest.tools/assert.Equal", "github.com/google/go-cmp/cmp.Equal",
		"github.com/rogpeppe/go-internal/testscript.Run", "go.uber.org/goleak.VerifyNone",
		"example.com/quay/vendor/github.com/stretchr/testify/require.NoError",
	} {
		stack := "panic: x\n\ngoroutine 1 [running]:\n" + function + "(0x1)\n\t/x/other.go:1 +0x1\n" +
			"example.com/quay.Moor(0x1)\n\t/x/moor.go:2 +0x1\n"
		expectFrame(t, function, stack, "quay.Moor", "moor.go:2")
	}
	for _, function := range []string{
		"java.util.List.of", "javax.net.A.b", "jdk.internal.A.b", "sun.nio.A.b", "com.sun.A.b", "java.base/java.lang.A.b",
		"android.os.A.b", "androidx.test.A.b", "dalvik.A.b", "kotlin.A.b", "kotlinx.coroutines.A.b", "scala.A.b",
		"groovy.lang.A.b", "org.codehaus.groovy.A.b", "org.junit.A.b", "junit.framework.A.b", "org.testng.A.b",
		"org.hamcrest.A.b", "org.assertj.A.b", "org.mockito.A.b", "org.opentest4j.A.b", "com.google.common.truth.A.b",
		"org.gradle.A.b", "org.apache.maven.A.b", "io.kotest.A.b", "org.scalatest.A.b", "org.spockframework.A.b",
		"io.cucumber.A.b", "System.A.b", "Microsoft.A.b", "Xunit.A.b", "NUnit.A.b", "FluentAssertions.A.b", "Moq.A.b",
		"Shouldly.A.b", "process.processTicksAndRejections", "Module._compile", "Promise.then",
	} {
		expectFrame(t, function, "x\n\tat "+function+"(Other.java:1)\n\tat org.port.Quay.moor(Quay.java:2)\n",
			"org.port.Quay.moor", "Quay.java:2")
	}
	for _, where := range []string{
		"/x/node_modules/a/b.js:1:2", `C:\x\node_modules\a\b.js:1:2`, "node:internal/a.js:1:2", "internal/a.js:1:2",
		"<anonymous>", "native",
	} {
		expectFrame(t, where, "x\n    at other ("+where+")\n    at moor (/x/quay.js:2:1)\n", "moor", "quay.js:2")
	}
	for _, file := range []string{
		"/v/site-packages/a.py", "/v/dist-packages/a.py", "/usr/lib/python3.12/a.py", "/usr/lib64/python3/a.py",
		`C:\Python\Lib\a.py`, "<frozen a>", "<string>", "/x/_pytest/a.py", "/x/unittest/case.py", "/x/pluggy/a.py",
	} {
		stack := "Traceback (most recent call last):\n  File \"/x/quay.py\", line 2, in moor\n    a()\n" +
			"  File \"" + file + "\", line 1, in other\n    b()\nTideError: x\n"
		expectFrame(t, file, stack, "moor", "quay.py:2")
	}
}

func expectFrame(t *testing.T, name, stack, frame, place string) {
	t.Helper()
	if got := grouping.Identify(text(stack)); got.Frame != frame || got.Place != place {
		t.Errorf("%s: frame %q at %q, expected %q at %q", name, got.Frame, got.Place, frame, place)
	}
}

// TestUnitsAndZones belong to the number and the time before them.
func TestUnitsAndZones(t *testing.T) {
	for format, words := range map[string]string{
		"at 21:14:05%s.": "Z, UTC, GMT, CET, CEST, EST, EDT, PST, PDT, +0100, -07:00,+01:00",
		"of 5%s.": "ns,us,ms,sec,secs,min,mins,s,m,h,d,µs,KiB,MiB,GiB,TiB,Ki,Mi,Gi,Ti,kB,KB,MB,GB,TB,kb,mb,gb,bytes,K,M,G," +
			"T,B,k,b,C,GHz,MHz,Hz,KHz,kHz,%,m30s,.5s,h0m0.5s",
		"for 5 %s.": "ms,msec,msecs,millis,millisecond,milliseconds,us,usec,usecs,s,sec,secs,second,seconds,min,mins," +
			"minute,minutes,hour,hours,day,days,KB,MB,GB,TB,kB,KiB,MiB,GiB,TiB,B,byte,bytes",
	} {
		for word := range strings.SplitSeq(words, ",") {
			masked := grouping.Mask(fmt.Sprintf(format, word))
			before, mark, _ := strings.Cut(masked, "<")
			if before != format[:len(before)] || !strings.HasSuffix(mark, ">.") || strings.Contains(mark, " ") {
				t.Errorf("%s with %q is %s", format, word, masked)
			}
		}
	}
}

// TestPlaceholdersGiveWay to the text.
func TestPlaceholdersGiveWay(t *testing.T) {
	expected := grouping.Identify(text("bilge pump stopped"))
	for _, message := range []string{
		"", "fail", "FAILED", "Failed.", "failure", "Error:", "Test failed", "test failure", "Assertion failed!",
		"null", "none",
	} {
		if got := grouping.Identify(grouping.Failure{Message: message, Text: "bilge pump stopped"}); got != expected {
			t.Errorf("%q: %+v", message, got)
		}
	}
}

// TestHeadersOfLoggers are no part of the message.
func TestHeadersOfLoggers(t *testing.T) {
	for _, header := range []string{
		"2026-11-23 21:14:05 ", "2026-11-23 21:14:05.113 4711 ERROR ", "[2026-11-23T21:14:05Z] [ERROR] ",
		"21:14:05 | INFO | ",
		"Nov 23 21:14:05.113: INFO: ", "2026-11-23 21:14:05 FATAL: ", "2026-11-23 21:14:05 - WARN - ", "[-] ",
		"[req-5c0f4a3e-1234-4000-8000-0123456789ab admin] ", "W1123 21:04:05.678901       1 quay.go:12] ",
		"2026-11-23 21:14:05 trace ", "2026-11-23 21:14:05 DEBUG ", "2026-11-23 21:14:05 NOTICE ",
		"2026-11-23 21:14:05 WARNING ", "2026-11-23 21:14:05 ERR ", "2026-11-23 21:14:05 CRITICAL ",
		"2026-11-23 21:14:05 SEVERE ", "2026-11-23 21:14:05 PANIC ",
	} {
		if got := grouping.Identify(text(header + "bilge pump stopped")).Message; got != "bilge pump stopped" {
			t.Errorf("%q gives %q", header, got)
		}
	}
	for _, message := range []string{"error bilge pump stopped", "[ferry] bilge pump stopped"} {
		if got := grouping.Identify(text(message)).Message; got != message {
			t.Errorf("%q gives %q", message, got)
		}
	}
}

// TestRacesAreOfTwoAccesses, each by its first frame, whichever came first.
func TestRacesAreOfTwoAccesses(t *testing.T) {
	access := func(what, function string) string {
		return what + " at 0x00c0000b4010 by goroutine 8:\n  example.com/quay." + function +
			"()\n      /x/quay.go:20 +0x64\n  example.com/quay.caller()\n      /x/quay.go:21 +0x64\n\n"
	}
	one := grouping.Identify(text("WARNING: DATA RACE\n" + access("Write", "a") + access("Previous read", "b")))
	other := grouping.Identify(text("WARNING: DATA RACE\nnote\n" + access("Read", "b") + access("Previous write", "a") +
		access("Third", "c")))
	if one.Frame != "quay.a and quay.b" || other.Key != one.Key {
		t.Errorf("%+v and %+v", one, other)
	}
}

func TestLinesBeyondAllFilesAreNone(t *testing.T) {
	if got := grouping.Identify(text("quay.go:99999999999: bilge pump stopped")).Place; got != "quay.go" {
		t.Errorf("place %q", got)
	}
}

// TestOtherGoroutinesHaveNoSay in a panic.
func TestOtherGoroutinesHaveNoSay(t *testing.T) {
	stack := "panic: x\n\ngoroutine 1 [running]:\ntesting.tRunner(0x1)\n\t/usr/testing.go:1 +0x1\n\n" +
		"goroutine 2 [select]:\nexample.com/quay.Wait(0x1)\n\t/x/quay.go:2 +0x1\n"
	expectFrame(t, "another goroutine's frame", stack, "", "")
}

func TestGinkgoEndsAreNoPartOfTheMessage(t *testing.T) {
	for _, end := range []string{"[FAILED]", "[PANICKED]", "[TIMEDOUT]", "[INTERRUPTED]"} {
		got := grouping.Identify(text("STEP: mooring\n" + end + " bilge pump stopped\nIn [It] at: quay.go:2 @ 1")).Message
		if got != "bilge pump stopped" {
			t.Errorf("%s: %q", end, got)
		}
	}
}

func TestMessagesAreOneLineOfText(t *testing.T) {
	got := grouping.Identify(text("bilge \t  pump\x07 stopped\u2028at\u00a0once\xff ")).Message
	if got != "bilge pump stopped at once\ufffd" {
		t.Errorf("%q", got)
	}
	class := grouping.Identify(grouping.Failure{Type: "port.TideFailure", Message: "too low"}).Message
	if class != "TideFailure: too low" {
		t.Errorf("%q", class)
	}
}

package grouping_test

import "salve/internal/triage/grouping"

// sample is a failure with what it is recognised by. All of them are invented.
type sample struct {
	name    string
	failure grouping.Failure

	message string
	frame   string
	place   string
}

// goSamples are failures of Go tests.
var goSamples = []sample{
	{
		name: "go: a line that a test logged",
		failure: grouping.Failure{
			Message: "harbour 7 has 3 berths, not 12", Text: "    harbour_test.go:41: harbour 7 has 3 berths, not 12",
			File: "harbour_test.go", Line: 41,
		},
		message: "harbour <num> has <num> berths, not <num>", place: "harbour_test.go:41",
	},
	{
		name: "go: the last line with a place in a log",
		failure: grouping.Failure{Text: "=== RUN   TestDock\n    dock_test.go:9: dialling\n" +
			"    dock_test.go:12: crane dropped the container\n        twice\n--- FAIL: TestDock (0.02s)"},
		message: "crane dropped the container twice", place: "dock_test.go:12",
	},
	{
		name: "go: a compiler's error",
		failure: grouping.Failure{Message: "undefined: Anchor", Text: "# example.com/harbour\n" +
			"./anchor.go:12:9: undefined: Anchor"},
		message: "undefined: Anchor", place: "anchor.go:12",
	},
	{
		name: "testify: not equal",
		failure: grouping.Failure{Text: `    berth_test.go:33: 
        	Error Trace:	/home/ci/src/harbour/berth_test.go:33
        	Error:      	Not equal: 
        	            	expected: 3
        	            	actual  : 5
        	Test:       	TestBerths/north_3
`},
		message: "Not equal:", frame: "TestBerths", place: "berth_test.go:33",
	},
	{
		name: "testify: not equal, with a message and a diff",
		failure: grouping.Failure{Text: `    berth_test.go:48: 
        	Error Trace:	/home/ci/src/harbour/berth_test.go:48
        	            				/home/ci/src/harbour/berth_test.go:12
        	Error:      	Not equal: 
        	            	expected: "open"
        	            	actual  : "shut"
        	            	
        	            	Diff:
        	            	--- Expected
        	            	+++ Actual
        	            	@@ -1 +1 @@
        	            	-open
        	            	+shut
        	Test:       	TestGate
        	Messages:   	lock gate after high tide
`},
		message: "Not equal: lock gate after high tide", frame: "TestGate", place: "berth_test.go:48",
	},
	{
		name: "testify: an unexpected error",
		failure: grouping.Failure{Text: `
	Error Trace:	pilot_test.go:71
	Error:      	Received unexpected error:
	            	pilot station: radio check on channel 12 unanswered after 3.2s
	Test:       	TestPilot
`},
		message: "Received unexpected error: pilot station: radio check on channel <num> unanswered after <duration>",
		frame:   "TestPilot", place: "pilot_test.go:71",
	},
	{
		name: "go: a panic in the project's own code below the standard library",
		failure: grouping.Failure{Text: `panic: runtime error: index out of range [5] with length 3 [recovered]
	panic: runtime error: index out of range [5] with length 3

goroutine 7 [running]:
testing.tRunner.func1.2({0x5400c0, 0xc00001a0a8})
	/usr/local/go/src/testing/testing.go:1632 +0x230
panic({0x5400c0?, 0xc00001a0a8?})
	/usr/local/go/src/runtime/panic.go:785 +0x132
sort.Slice({0x1, 0x2}, 0xc000010018)
	/usr/local/go/src/sort/slice.go:26 +0x13
example.com/harbour/pkg/quay.(*Plan).Assign(0xc000010018, 0x5)
	/home/ci/src/harbour/pkg/quay/plan.go:88 +0x1d
example.com/harbour/pkg/quay.TestAssign(0xc0000d4680)
	/home/ci/src/harbour/pkg/quay/plan_test.go:14 +0x27
`},
		message: "panic: runtime error: index out of range [<num>] with length <num>",
		frame:   "quay.(*Plan).Assign", place: "plan.go:88",
	},
	{
		name: "go: a nil pointer",
		failure: grouping.Failure{
			Message: "panic: runtime error: invalid memory address or nil pointer dereference",
			Text: `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4f1b2c]

goroutine 19 [running]:
harbour/internal/tide.Table.At(...)
	/builds/17/harbour/internal/tide/table.go:31
harbour/internal/tide.TestAt.func2(0xc000102820)
	/builds/17/harbour/internal/tide/table_test.go:52 +0x1c
`},
		message: "panic: runtime error: invalid memory address or nil pointer dereference",
		frame:   "tide.Table.At", place: "table.go:31",
	},
	{
		name: "go: a timeout with one test running",
		failure: grouping.Failure{Text: `panic: test timed out after 10m0s
	running tests:
		TestUnload/crate_7 (9m58s)

goroutine 1201 [running]:
testing.(*M).startAlarm.func1()
	/usr/local/go/src/testing/testing.go:2373 +0x385
`},
		message: "panic: test timed out after <duration>", frame: "TestUnload",
	},
	{
		name: "go: a timeout with several tests running",
		failure: grouping.Failure{Text: "panic: test timed out after 1m30s\n\trunning tests:\n\t\tTestA (1m29s)\n" +
			"\t\tTestB (1m20s)\n\ngoroutine 9 [running]:\n"},
		message: "panic: test timed out after <duration>",
	},
	{
		name: "go: a data race",
		failure: grouping.Failure{Text: `==================
WARNING: DATA RACE
Write at 0x00c0000b4010 by goroutine 8:
  example.com/harbour/pkg/log.(*Book).Add()
      /home/ci/src/harbour/pkg/log/book.go:20 +0x64

Previous read at 0x00c0000b4010 by goroutine 7:
  runtime.mapaccess1()
      /usr/local/go/src/runtime/map.go:395 +0x0
  example.com/harbour/pkg/log.(*Book).All()
      /home/ci/src/harbour/pkg/log/book.go:31 +0x3a

Goroutine 8 (running) created at:
  example.com/harbour/pkg/log.TestBook()
      /home/ci/src/harbour/pkg/log/book_test.go:15 +0x1b
==================
`},
		message: "WARNING: DATA RACE", frame: "log.(*Book).Add and log.(*Book).All", place: "book.go:20",
	},
	{
		name: "go: a deadlock",
		failure: grouping.Failure{Text: "fatal error: all goroutines are asleep - deadlock!\n\n" +
			"goroutine 1 [chan receive]:\nmain.wait(0x0)\n\t/src/cmd/ferry/main.go:77 +0x1f\nmain.main()\n" +
			"\t/src/cmd/ferry/main.go:12 +0x1f\n"},
		message: "fatal error: all goroutines are asleep - deadlock!", frame: "main.wait", place: "main.go:77",
	},
	{
		name: "go: a panic with a message of its own, in a major version",
		failure: grouping.Failure{Text: "panic: manifest of vessel 9f31c2d7a0 lists no cargo\n\ngoroutine 1 [running]:\n" +
			"example.com/cargo/v3.Load({0x1})\n\t/src/cargo/load.go:5 +0x1\n"},
		message: "panic: manifest of vessel <hex> lists no cargo", frame: "cargo.Load", place: "load.go:5",
	},
	{
		name: "gomega: numbers that differ",
		failure: grouping.Failure{Text: `[FAILED] Expected
    <int>: 3
to equal
    <int>: 4
In [It] at: example.com/harbour/e2e/berths.go:212 @ 11/23/26 21:14:05.113`},
		message: "Expected <int>: <num> to equal <int>: <num>", place: "berths.go:212",
	},
	{
		name: "gomega: words that differ",
		failure: grouping.Failure{Text: `[FAILED] Expected
    <string>: Listing
to equal
    <string>: Afloat
In [It] at: /home/ci/harbour/e2e/vessel.go:31 @ 11/23/26 21:14:05.113`},
		message: "Expected <string>: Listing to equal <string>: Afloat", place: "vessel.go:31",
	},
	{
		name: "gomega: a time that passed",
		failure: grouping.Failure{Text: `  [FAILED] Timed out after 300.001s.
  Expected success, but got an error:
      <*errors.StatusError | 0xc0005c2be0>: 
      berths.harbour.example "north-1" is forbidden: tide too low
      {
          ErrStatus: {
              TypeMeta: {Kind: "", APIVersion: ""},
  In [BeforeEach] at: harbour/e2e/tide.go:87 @ 11/23/26 21:14:05.113`},
		message: `Timed out after <duration>. Expected success, but got an error: <*errors.StatusError | <hex>>: ` +
			`berths.harbour.example "north-<num>" is forbidden: tide too low`,
		place: "tide.go:87",
	},
	{
		name: "kubernetes: a pod that doesn't get ready",
		failure: grouping.Failure{Text: `[FAILED] pod "ferry-7d9c5b8f6-x2kqz" on node aks-pool1-31467719-vmss000004 not ready after 5m0s: ` +
			`containers with unready status: [ferry]
In [It] at: test/e2e/ferry.go:140 @ 11/23/26 21:14:05.113`},
		message: `pod "ferry-<hex>-<id>" on node <node> not ready after <duration>: containers with unready status: [ferry]`,
		place:   "ferry.go:140",
	},
	{
		name: "kubernetes: the condition",
		failure: grouping.Failure{Text: "[FAILED] timed out waiting for the condition\n" +
			"In [It] at: test/e2e/ferry.go:140 @ 11/23/26 21:14:05.113"},
		message: "timed out waiting for the condition", place: "ferry.go:140",
	},
	{
		name:    "kubernetes: a connection that is refused",
		failure: grouping.Failure{Message: `Get "https://10.0.0.1:6443/api/v1/nodes?limit=500": dial tcp 10.0.0.1:6443: connect: connection refused`, File: "/src/a_test.go", Line: 3},
		message: `Get "<url>": dial tcp <ip>: connect: connection refused`, place: "a_test.go:3",
	},
	{
		name: "kubernetes: klog",
		failure: grouping.Failure{Text: "E1123 21:04:05.678901    1234 reconciler.go:12] \"Reconciler error\" " +
			"err=\"mooring lines are tangled\" reconcileID=\"5c0f4a3e-0000-4000-8000-0123456789ab\""},
		message: `"Reconciler error" err="mooring lines are tangled" reconcileID="<uuid>"`, place: "reconciler.go:12",
	},
	{
		name:    "exit status alone",
		failure: grouping.Failure{Message: "exit status 1", File: "run_test.go", Line: 8},
		message: "exit status <num>", place: "run_test.go:8",
	},
	{
		name:    "deadline alone",
		failure: grouping.Failure{Message: "context deadline exceeded", File: "run_test.go", Line: 9},
		message: "context deadline exceeded", place: "run_test.go:9",
	},
}

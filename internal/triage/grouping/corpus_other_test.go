package grouping_test

import "salve/internal/triage/grouping"

// otherSamples are failures of other languages, and texts of no language.
var otherSamples = []sample{
	{
		name: "java: an assertion",
		failure: grouping.Failure{
			Type: "java.lang.AssertionError", Message: "expected:<3> but was:<5>",
			Text: "java.lang.AssertionError: expected:<3> but was:<5>\n\tat org.junit.Assert.fail(Assert.java:89)\n" +
				"\tat org.junit.Assert.assertEquals(Assert.java:120)\n" +
				"\tat com.example.port.BerthTest.counts(BerthTest.java:44)\n" +
				"\tat java.base/java.lang.reflect.Method.invoke(Method.java:566)\n",
		},
		message: "java.lang.AssertionError: expected:<<num>> but was:<<num>>",
		frame:   "com.example.port.BerthTest.counts", place: "BerthTest.java:44",
	},
	{
		name: "java: a cause",
		failure: grouping.Failure{
			Type: "com.example.port.StartException", Message: "Harbour office could not be opened",
			Text: "com.example.port.StartException: Harbour office could not be opened\n" +
				"\tat com.example.port.Office.open(Office.java:19)\n" +
				"\tat com.example.port.OfficeTest.opens(OfficeTest.java:7)\n" +
				"Caused by: java.net.BindException: Address already in use\n" +
				"\tat java.base/sun.nio.ch.Net.bind(Net.java:459)\n\tat com.example.port.Radio.listen(Radio.java:71)\n" +
				"\t... 23 more\n",
		},
		message: "com.example.port.StartException: Harbour office could not be opened; caused by " +
			"java.net.BindException: Address already in use",
		frame: "com.example.port.Radio.listen", place: "Radio.java:71",
	},
	{
		name: "java: what the language raises",
		failure: grouping.Failure{
			Type: "java.lang.NullPointerException",
			Text: "java.lang.NullPointerException\n\tat com.example.port.Crane.lambda$lift$3(Crane.java:12)\n" +
				"\tat java.util.ArrayList.forEach(ArrayList.java:1259)\n",
		},
		message: "java.lang.NullPointerException", frame: "com.example.port.Crane.lambda$lift$<num>",
		place: "Crane.java:12",
	},
	{
		name: "java: a suppressed error's cause is not the cause",
		failure: grouping.Failure{
			Text: "com.example.port.MooringException: bollard 4 gave way\n" +
				"\tat com.example.port.Quay.moor(Quay.java:30)\n\tSuppressed: java.io.IOException: rope\n" +
				"\t\tat com.example.port.Rope.close(Rope.java:3)\n\tCaused by: java.io.IOException: knot\n" +
				"\t\tat com.example.port.Knot.close(Knot.java:4)\n",
		},
		message: "com.example.port.MooringException: bollard <num> gave way", frame: "com.example.port.Quay.moor",
		place: "Quay.java:30",
	},
	{
		name:    "junit: a message and nothing else",
		failure: grouping.Failure{Type: "com.example.port.CustomsException", Message: "seal 81 broken"},
		message: "CustomsException: seal <num> broken",
	},
	{
		name:    "junit: a placeholder for a message, and a text",
		failure: grouping.Failure{Message: "Failed", Text: "lighthouse_test.exs:12\nlamp did not turn within 30 seconds\n"},
		message: "lighthouse_test.exs:<num> lamp did not turn within <duration>", place: "lighthouse_test.exs:12",
	},
	{
		name: "python: a traceback",
		failure: grouping.Failure{Text: `Traceback (most recent call last):
  File "/home/ci/venv/lib/python3.12/site-packages/click/core.py", line 1157, in __call__
    return self.main(*args, **kwargs)
  File "/home/ci/src/port/tariff.py", line 83, in quote
    return table[vessel]
KeyError: 'lugger'
`},
		message: "KeyError: 'lugger'", frame: "quote", place: "tariff.py:83",
	},
	{
		name: "python: an error while another was handled",
		failure: grouping.Failure{Text: `Traceback (most recent call last):
  File "/src/port/a.py", line 3, in read
    open(name)
FileNotFoundError: [Errno 2] No such file or directory: '/var/lib/port/tariff-2026.csv'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/src/port/b.py", line 9, in load
    raise TariffMissing(year)
port.errors.TariffMissing: no tariff for the year 2026
`},
		message: "port.errors.TariffMissing: no tariff for the year <num>", frame: "load", place: "b.py:9",
	},
	{
		name: "python: a traceback that a logger wrote",
		failure: grouping.Failure{Text: `[req-5c0f4a3e-0000-4000-8000-0123456789ab] reconcile failed
2026-11-23 21:14:05.113 4711 ERROR port.engine Traceback (most recent call last):
2026-11-23 21:14:05.113 4711 ERROR port.engine   File "/opt/port/engine.py", line 12, in reconcile
2026-11-23 21:14:05.113 4711 ERROR port.engine     self.step()
2026-11-23 21:14:05.113 4711 ERROR port.engine LockError: tide lock is held by another engine
2026-11-23 21:14:05.113 4711 ERROR port.engine 
`},
		message: "reconcile failed; caused by LockError: tide lock is held by another engine", frame: "reconcile",
		place: "engine.py:12",
	},
	{
		name: "pytest: an assertion",
		failure: grouping.Failure{
			Message: "assert 3 == 5\n +  where 3 = len([1, 2, 3])",
			Text: `berths = [1, 2, 3]

    def test_berths(berths):
>       assert len(berths) == 5
E       assert 3 == 5
E        +  where 3 = len([1, 2, 3])

tests/test_berths.py:14: AssertionError`,
		},
		message: "assert <num> == <num>", frame: "test_berths", place: "test_berths.py:14",
	},
	{
		name: "pytest: an error in a helper",
		failure: grouping.Failure{Text: `    def test_ferry():
>       board(4)

tests/test_ferry.py:8: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def board(n):
>       raise GangwayClosed("gangway closes 5 minutes before departure")
E       port.GangwayClosed: gangway closes 5 minutes before departure

tests/helpers.py:31: GangwayClosed`},
		message: "port.GangwayClosed: gangway closes <duration> before departure", frame: "board",
		place: "helpers.py:31",
	},
	{
		name: "javascript: jest",
		failure: grouping.Failure{Text: `Error: expect(received).toBe(expected) // Object.is equality

Expected: 3
Received: 5
    at Object.toBe (/home/ci/src/port/node_modules/expect/build/index.js:12:5)
    at countBerths (/home/ci/src/port/src/berths.test.js:21:18)
    at processTicksAndRejections (node:internal/process/task_queues:95:5)`},
		message: "Error: expect(received).toBe(expected) // Object.is equality Expected: <num> Received: <num>",
		frame:   "countBerths", place: "berths.test.js:21",
	},
	{
		name: "javascript: a frame without a function",
		failure: grouping.Failure{Text: `TypeError: Cannot read properties of undefined (reading 'draught')
    at Object.<anonymous> (/srv/port/vessel.test.ts:9:30)`},
		message: "TypeError: Cannot read properties of undefined (reading 'draught')", place: "vessel.test.ts:9",
	},
	{
		name: "dotnet",
		failure: grouping.Failure{Text: "Port.TideException : the tide table of 2026 is not published\n" +
			"   at Port.Tides.Load(Int32 year) in C:\\agent\\_work\\1\\s\\Port\\Tides.cs:line 57\n" +
			"   at System.Threading.Tasks.Task.Execute()"},
		message: "Port.TideException : the tide table of <num> is not published", frame: "Port.Tides.Load",
		place: "Tides.cs:57",
	},
	{
		name:    "rust",
		failure: grouping.Failure{Text: "thread 'tests::buoy' panicked at src/buoy.rs:12:5:\nbuoy 4 drifted off its mooring\nnote: run with `RUST_BACKTRACE=1`"},
		message: "buoy <num> drifted off its mooring", place: "buoy.rs:12",
	},
	{
		name: "rust, as older compilers write it",
		failure: grouping.Failure{Text: "thread 'tests::buoy' panicked at 'buoy 4 drifted off its mooring', " +
			"src/buoy.rs:12:5"},
		message: "buoy <num> drifted off its mooring", place: "buoy.rs:12",
	},
	{
		name: "c++",
		failure: grouping.Failure{Text: "/builds/3/port/test/sonar_test.cc:77: Failure\n" +
			"Expected equality of these values:\n  depth()\n    Which is: 12\n  14"},
		message: "<path>/sonar_test.cc:<num>: Failure Expected equality of these values: depth() Which is: <num>",
		place:   "sonar_test.cc:77",
	},
	{
		name: "a command's last words",
		failure: grouping.Failure{Text: "2026-11-23T21:14:05Z ERROR [worker-3] apt: could not resolve " +
			"archive.example.org\n2026-11-23T21:14:05Z INFO giving up"},
		message: "apt: could not resolve archive.example.org <time> INFO giving up",
	},
	{
		name:    "a path on another disk",
		failure: grouping.Failure{Message: `open C:\Users\ci\AppData\Local\Temp\tides.db: database is locked`},
		message: `open <path>\tides.db: database is locked`,
	},
	{
		name:    "colours and line ends of another system",
		failure: grouping.Failure{Text: "\x1b[31mbilge pump stopped\x1b[0m\r\nat frame 14\r\n"},
		message: "bilge pump stopped at frame <num>",
	},
	{
		name:    "colours of which a reader took the ESC",
		failure: grouping.Failure{Text: "\ufffd[1;31mbilge pump stopped\ufffd[0m\nat frame 15"},
		message: "bilge pump stopped at frame <num>",
	},
	{
		name:    "a diff after the message",
		failure: grouping.Failure{Text: "logbook differs from golden file\n--- want\n+++ got\n@@ -1 +1 @@\n-fair\n+foul"},
		message: "logbook differs from golden file",
	},
	{
		name:    "a language without blanks",
		failure: grouping.Failure{Message: "港口 12 已关闭"},
		message: "港口 <num> 已关闭",
	},
	{
		name: "addresses of all kinds",
		failure: grouping.Failure{Message: "pilot 00:1b:44:11:3a:b7 left fe80::1ff:fe23:4567:890a for " +
			"[2001:db8::1]:443 by 192.168.1.20:8080 at Fri Dec 11 19:02:14 2026"},
		message: "pilot <mac> left <ip> for [<ip>]:<num> by <ip> at <time>",
	},
	{
		name: "azure: an error with its body",
		failure: grouping.Failure{Text: `    quay_test.go:80: create quay-1734: PUT https://port.example/subscriptions/5c0f4a3e-1234-4000-8000-0123456789ab/x
        --------------------------------------------------------------------------------
        RESPONSE 409: 409 Conflict
        ERROR CODE: AnotherOperationInProgress
        --------------------------------------------------------------------------------
        {
          "code": "AnotherOperationInProgress"
        }`},
		message: "create quay-<num>: PUT <url> RESPONSE <num>: <num> Conflict ERROR CODE: AnotherOperationInProgress",
		place:   "quay_test.go:80",
	},
	{
		name: "docker: a registry's limit",
		failure: grouping.Failure{Message: "toomanyrequests: pull rate limit of 100 per 6h reached for 10.4.0.7, " +
			"retry in 17 minutes",
			File: "tests/pull.spec.ts"},
		message: "toomanyrequests: pull rate limit of <num> per <duration> reached for <ip>, retry in <duration>",
		place:   "pull.spec.ts",
	},
	{name: "nothing at all"},
	{name: "a place alone", failure: grouping.Failure{File: "/src/dock_test.go", Line: 4}, place: "dock_test.go:4"},
}

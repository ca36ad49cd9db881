package check_test

import (
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

func TestP2NoRail(t *testing.T) {
	files := instance{"config.yaml": "pod_namespace: test-pods\n"}
	const at = "config.yaml:1:16 cluster=default component=prow-controller-manager"
	reviews := func(home, other check.Review) map[string]check.Review {
		return map[string]check.Review{"test-pods": home, "default": other}
	}
	allowed, denied, unknown := check.Review{Allowed: true}, check.Review{}, check.Review{Failed: "forbidden"}
	for name, test := range map[string]struct {
		live    check.Live
		want    []string
		verdict finding.Severity
		reason  string
	}{
		"a Role in the pod namespace": {check.Live{User: "u", Reviews: reviews(allowed, denied)}, nil, finding.OK, ""},
		"everywhere": {check.Live{User: "u", Everywhere: allowed}, []string{"WARN " + at}, finding.Warn,
			""},
		"in another namespace too": {check.Live{User: "u", Reviews: reviews(allowed, allowed)}, []string{"WARN " +
			at}, finding.Warn, ""},
		"not even in the pod namespace": {check.Live{User: "u", Reviews: reviews(denied, denied)}, []string{"ALERT " + at},
			finding.Alert, ""},
		"nobody says who plank is": {check.Live{Reviews: reviews(allowed, denied)}, nil, finding.Unknown,
			"--plank-user"},
		"the review is denied": {check.Live{User: "u", Everywhere: unknown, Reviews: reviews(unknown, unknown)},
			nil, finding.Unknown, "forbidden"},
		"one review has no answer": {check.Live{User: "u", Reviews: reviews(allowed, unknown)}, nil, finding.Unknown,
			"namespace default"},
		"the pod namespace isn't asked": {check.Live{User: "u", Reviews: map[string]check.Review{"default": denied}}, nil,
			finding.Unknown, "test-pods"},
		"the cluster doesn't answer": {check.Live{User: "u", Failed: "timed out"}, nil, finding.Unknown, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, files, nil)
			test.live.Cluster = "default"
			given.Live = &test.live
			found, verdict := run(t, "P2", given)
			expect(t, found, test.want...)
			expectVerdict(t, verdict, test.verdict, test.reason)
		})
	}
}

func TestP3OutOfReach(t *testing.T) {
	job := func(name, cluster, secret string) string {
		return "- {name: " + name + ", cluster: " + cluster +
			", interval: 1h, spec: {containers: [{image: i, command: [make]}], " +
			"volumes: [{name: v, secret: {secretName: " + secret + "}}]}}\n"
	}
	files := instance{"config.yaml": "pod_namespace: test-pods\n", "jobs/a.yaml": "periodics:\n" + job("a", "default",
		"s") +
		job("b", "default", "t") + job("c", "default", "t") + job("d", "default", "t") + job("e", "other", "u")}
	s, u := check.Object{Kind: config.Secret, Name: "s"}, check.Object{Kind: config.Secret, Name: "t"}
	there, missing, unknown := check.Presence{There: true}, check.Presence{}, check.Presence{Failed: "forbidden"}
	for name, test := range map[string]struct {
		objects map[check.Object]check.Presence
		want    []string
		verdict finding.Severity
		reason  string
	}{
		"all are there": {map[check.Object]check.Presence{s: there, u: there}, nil, finding.OK, ""},
		"one that one job needs": {map[check.Object]check.Presence{s: missing, u: there},
			[]string{"WARN jobs/a.yaml:2:136 cluster=default namespace=test-pods Secret s"}, finding.Warn, ""},
		"one that most jobs need": {map[check.Object]check.Presence{s: there, u: missing},
			[]string{"ALERT jobs/a.yaml:3:136 cluster=default namespace=test-pods Secret t"}, finding.Alert, ""},
		"one that may not be asked for": {map[check.Object]check.Presence{s: unknown, u: there}, nil, finding.Unknown,
			"forbidden"},
		"one that nobody asked for": {map[check.Object]check.Presence{s: there}, nil, finding.Unknown,
			"Secret t was not asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, files, nil)
			given.Live = &check.Live{Cluster: "default", Objects: test.objects}
			found, verdict := run(t, "P3", given)
			expect(t, found, test.want...)
			expectVerdict(t, verdict, test.verdict, test.reason)
		})
	}
	loaded, _ := files.read(t)
	if wanted := check.Wanted(loaded.Partial(), "default"); len(wanted) != 2 || wanted[0] != s || wanted[1] != u {
		t.Errorf("%v", wanted)
	}
}

package comment_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/internal/prow/githubsim"
	"salve/internal/triage/comment"
)

const (
	token  = "ghp_0123456789abcdefghij0123456789abcdefgh"
	marker = "<!-- salve-triage "
	path   = "/issues/7/comments"
)

var pull = comment.Target{Owner: "kube", Repo: "widgets", Number: 7}

func report(build string) string {
	return marker + "build=" + build + " digest=d -->\n\nIt is the shared cluster.\n"
}

// bench is a GitHub below the path of an Enterprise Server, with one pull request.
type bench struct {
	*testing.T
	sim       *githubsim.Server
	url       string
	transport http.RoundTripper
}

// newBench serves it over HTTP.
func newBench(t *testing.T, comments ...githubsim.Comment) *bench {
	t.Helper()
	b := simulated(t, comments...)
	url, stop, err := b.sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	b.url, b.transport = url+"/api/v3/", &http.Transport{}
	return b
}

// virtual runs a test in virtual time, in which pauses of minutes pass at once, and without a network.
func virtual(t *testing.T, test func(*bench), comments ...githubsim.Comment) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := simulated(t, comments...)
		b.url, b.transport = "http://127.0.0.1/api/v3/", b.sim.Transport()
		test(b)
	})
}

func simulated(t *testing.T, comments ...githubsim.Comment) *bench {
	t.Helper()
	w := &githubsim.World{}
	w.Repo("kube/widgets").Pull(7).Comments = comments
	w.Repo("kube/widgets").Collaborators = map[string]string{"robot": "write", "reader": "read"}
	w.Token(token, "robot")
	w.Tokens["app-token"] = &githubsim.Token{Login: "ci[bot]", Installation: true}
	return &bench{T: t, sim: githubsim.New(githubsim.Options{World: w})}
}

func (b *bench) poster(set ...func(*comment.Options)) *comment.Poster {
	b.Helper()
	o := comment.Options{
		BaseURL: b.url, Token: token, Transport: b.transport, Access: permit.ForComments("kube", "widgets"),
	}
	for _, one := range set {
		one(&o)
	}
	p, err := comment.New(o)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func (b *bench) post(body string, set ...func(*comment.Options)) (comment.Posted, error) {
	b.Helper()
	return b.poster(set...).Post(b.Context(), pull, marker, body)
}

func (b *bench) expect(outcome comment.Outcome, posted comment.Posted, err error) {
	b.Helper()
	if err != nil || posted.Outcome != outcome || posted.ID == 0 {
		b.Errorf("expected %s: %+v, %v", outcome, posted, err)
	}
}

// expectComments are the pull request's comments, each as author and text.
func (b *bench) expectComments(want ...string) {
	b.Helper()
	var got []string
	b.sim.Update(func(w *githubsim.World) {
		for _, c := range w.Repo("kube/widgets").Pull(7).Comments {
			got = append(got, c.Author+": "+c.Body)
		}
	})
	if strings.Join(got, "\n---\n") != strings.Join(want, "\n---\n") {
		b.Errorf("comments:\n%s\n\nexpected:\n%s", strings.Join(got, "\n---\n"), strings.Join(want, "\n---\n"))
	}
}

func TestOneCommentIsCreatedUpdatedAndLeft(t *testing.T) {
	b := newBench(t, githubsim.Comment{ID: 1, Author: "someone", Body: "looks good"})
	for _, step := range []struct {
		build string
		want  comment.Outcome
	}{{"1", comment.Created}, {"2", comment.Updated}, {"2", comment.Unchanged}} {
		posted, err := b.post(report(step.build))
		b.expect(step.want, posted, err)
		b.expectComments("someone: looks good", "robot: "+report(step.build))
	}
	if changes := b.sim.Changes(); len(changes) != 2 {
		t.Errorf("%d changes", len(changes))
	}
}

func TestCommentIsFoundOnAnyPage(t *testing.T) {
	var comments []githubsim.Comment
	for i := range 230 {
		comments = append(comments, githubsim.Comment{ID: int64(i + 1), Author: "robot", Body: "busy"})
	}
	comments[220].Body = report("1")
	b := newBench(t, comments...)
	posted, err := b.post(report("2"))
	b.expect(comment.Updated, posted, err)
	if posted.ID != 221 {
		t.Errorf("comment %d was changed", posted.ID)
	}
}

func TestAPageThatFailsIsNoEndOfTheList(t *testing.T) {
	var comments []githubsim.Comment
	for i := range 130 {
		comments = append(comments, githubsim.Comment{ID: int64(i + 1), Author: "robot", Body: "busy"})
	}
	comments[120].Body = report("1")
	virtual(t, func(b *bench) {
		b.sim.Inject(githubsim.Fault{Method: "GET", Path: "page=2", Status: 502, Times: -1})
		if posted, err := b.post(report("2")); apierr.ClassOf(err) != apierr.Transient || len(b.sim.Changes()) > 0 {
			b.Errorf("%+v, %v, %v", posted, err, b.sim.Changes())
		}
	}, comments...)
}

func TestMarkersOfOthersAreLeftAlone(t *testing.T) {
	forged := githubsim.Comment{ID: 1, Author: "mallory", Body: report("0")}
	quoted := githubsim.Comment{ID: 2, Author: "robot", Body: "> " + report("0")}
	later := githubsim.Comment{ID: 3, Author: "robot", Body: "hello\n" + report("0")}
	open := githubsim.Comment{ID: 4, Author: "robot", Body: marker + "is what it begins with"}
	b := newBench(t, forged, quoted, later, open)
	posted, err := b.post(report("1"))
	b.expect(comment.Created, posted, err)
	posted, err = b.post(report("2"))
	b.expect(comment.Updated, posted, err)
	b.expectComments("mallory: "+forged.Body, "robot: "+quoted.Body, "robot: "+later.Body, "robot: "+open.Body,
		"robot: "+report("2"))
}

func TestAppsHaveToSayWhoTheyAre(t *testing.T) {
	b := newBench(t, githubsim.Comment{ID: 1, Author: "robot", Body: report("0")})
	app := func(o *comment.Options) { o.Token = "app-token" }
	if _, err := b.post(report("1"), app); apierr.ClassOf(err) != apierr.Denied ||
		!strings.Contains(err.Error(), "--github-author") || len(b.sim.Changes()) > 0 {
		t.Errorf("%v", err)
	}
	posted, err := b.post(report("1"), app, func(o *comment.Options) { o.Author = "CI[bot]" })
	b.expect(comment.Created, posted, err)
	posted, err = b.post(report("2"), app, func(o *comment.Options) { o.Author = "ci[bot]" })
	b.expect(comment.Updated, posted, err)
	b.expectComments("robot: "+report("0"), "ci[bot]: "+report("2"))
}

func TestRefusalsHaveTheirClassAndChangeNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault githubsim.Fault
		want  apierr.Class
	}{
		{"forbidden", githubsim.Fault{Method: "POST", Status: 403, Message: "Resource not accessible"}, apierr.Denied},
		{"unauthorized", githubsim.Fault{Status: 401, Message: "Bad credentials"}, apierr.Denied},
		{"hidden", githubsim.Fault{Path: path, Status: 404, Message: "Not Found", Times: -1}, apierr.Denied},
		{"a secondary limit of changes", githubsim.Fault{Method: "POST", Secondary: true, RetryAfter: 90 * time.Second},
			apierr.Throttled},
		{"a secondary limit of changes, 429", githubsim.Fault{Method: "POST", Secondary: true, Status: 429},
			apierr.Throttled},
		{"a secondary limit without end", githubsim.Fault{Path: path, Secondary: true, Times: -1}, apierr.Throttled},
		{"not valid", githubsim.Fault{Method: "POST", Status: 422, Message: "Validation Failed"}, apierr.Terminal},
		{"moved", githubsim.Fault{Path: path, Status: 301, Times: -1}, apierr.Terminal},
		{"a proxy's page", githubsim.Fault{Method: "GET", Path: path, Plain: true, Times: -1}, apierr.Transient},
		{"a server that stumbles for good", githubsim.Fault{Method: "POST", Status: 502}, apierr.Transient},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect := func(b *bench) {
				b.sim.Inject(test.fault)
				posted, err := b.post(report("1"))
				if apierr.ClassOf(err) != test.want || posted.ID != 0 {
					b.Fatalf("%s: %+v, %v", apierr.ClassOf(err), posted, err)
				}
				if strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "kube/widgets#7") {
					b.Errorf("%v", err)
				}
				if after := apierr.RetryAfter(err); test.fault.RetryAfter > 0 && after != test.fault.RetryAfter {
					b.Errorf("retry after %s", after)
				}
				b.expectComments()
			}
			virtual(t, expect)
			if waits := test.want == apierr.Transient || test.fault.Times < 0; !waits {
				expect(newBench(t))
			}
		})
	}
}

func TestReadsAreRepeatedAndWaitForLimits(t *testing.T) {
	virtual(t, func(b *bench) {
		began := time.Now()
		b.sim.Inject(githubsim.Fault{Method: "GET", Status: 502, Times: 2})
		b.sim.Inject(githubsim.Fault{Method: "GET", Path: path, Secondary: true, RetryAfter: 50 * time.Second})
		b.sim.Inject(githubsim.Fault{Method: "GET", Path: path, Cut: githubsim.CutBody})
		posted, err := b.post(report("1"))
		b.expect(comment.Created, posted, err)
		b.expectComments("robot: " + report("1"))
		if waited := time.Since(began); waited < 50*time.Second {
			b.Errorf("GitHub asked for a pause of 50s, and had %s", waited)
		}
	})
}

func TestAnswersThatAreLostDontPostTwice(t *testing.T) {
	for _, cut := range []githubsim.Cut{githubsim.CutAfter, githubsim.CutBody} {
		t.Run(string(cut), func(t *testing.T) {
			b := newBench(t)
			b.sim.Inject(githubsim.Fault{Method: "POST", Cut: cut})
			posted, err := b.post(report("1"))
			b.expect(comment.Created, posted, err)
			b.expectComments("robot: " + report("1"))
			b.sim.Inject(githubsim.Fault{Method: "PATCH", Cut: cut})
			posted, err = b.post(report("2"))
			b.expect(comment.Updated, posted, err)
			b.expectComments("robot: " + report("2"))
			if changes := b.sim.Changes(); len(changes) != 2 {
				t.Errorf("%d changes", len(changes))
			}
		})
	}
	b := newBench(t)
	b.sim.Inject(githubsim.Fault{Method: "POST", Cut: githubsim.CutBefore})
	if _, err := b.post(report("1")); apierr.ClassOf(err) != apierr.Transient {
		t.Errorf("nothing was created: %v", err)
	}
	b.expectComments()
}

// rival lets another process post right before a request of ours.
type rival struct {
	http.RoundTripper
	before func(*http.Request)
}

func (r rival) RoundTrip(request *http.Request) (*http.Response, error) {
	r.before(request)
	return r.RoundTripper.RoundTrip(request)
}

func TestTwoThatPostAtOnceLeaveOneComment(t *testing.T) {
	for name, theirs := range map[string]string{"another report": report("0"), "the same report": report("1")} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			done := false
			posted, err := b.post(report("1"), func(o *comment.Options) {
				o.Transport = rival{o.Transport, func(r *http.Request) {
					if r.Method != http.MethodPost || done {
						return
					}
					done = true
					if _, err := b.post(theirs); err != nil {
						t.Error(err)
					}
				}}
			})
			if err != nil || posted.Others != 0 {
				t.Errorf("%+v, %v", posted, err)
			}
			b.expectComments("robot: " + report("1"))
		})
	}
}

func TestWhatIsNotSent(t *testing.T) {
	b := newBench(t)
	p := b.poster()
	for name, test := range map[string]struct {
		target       comment.Target
		marker, body string
	}{
		"no number":              {comment.Target{Owner: "kube", Repo: "widgets"}, marker, report("1")},
		"another path":           {comment.Target{Owner: "kube", Repo: "..", Number: 7}, marker, report("1")},
		"a path in a name":       {comment.Target{Owner: "kube/widgets", Repo: "x", Number: 7}, marker, report("1")},
		"no marker":              {pull, "", report("1")},
		"a marker that is whole": {pull, "<!-- x -->", "<!-- x -->"},
		"no marker in the text":  {pull, marker, "text"},
		"a marker without end":   {pull, marker, marker + "\n-->"},
		"too long":               {pull, marker, report("1") + strings.Repeat("x", 65536)},
	} {
		if _, err := p.Post(t.Context(), test.target, test.marker, test.body); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if calls := b.sim.Calls(); len(calls) > 0 {
		t.Errorf("%d calls", len(calls))
	}
	for _, o := range []comment.Options{
		{Token: "", BaseURL: b.url}, {Token: "a\nb", BaseURL: b.url}, {Token: token, BaseURL: "http://example.com/api/v3/"},
		{Token: token, BaseURL: "https://user:" + token + "@example.com/"}, {Token: token, BaseURL: "api"},
	} {
		if _, err := comment.New(o); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", o.BaseURL, err)
		}
	}
}

// TestOnlyCommentsOfTheRepositoryPass: what changes anything else is refused before it leaves.
func TestOnlyCommentsOfTheRepositoryPass(t *testing.T) {
	b := newBench(t)
	for name, access := range map[string]permit.CommentAccess{
		"no access": {}, "another repository's": permit.ForComments("kube", "gadgets"),
		"one whose name begins so": permit.ForComments("kube", "widget"),
	} {
		_, err := b.post(report("1"), func(o *comment.Options) { o.Access = access })
		if err == nil || !strings.Contains(err.Error(), "no permit") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.expectComments()
}

package githubsim

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// call is one request while it is served.
type call struct {
	sim      *Server
	request  *http.Request
	body     []byte
	id       string
	base     string
	segments []string
	query    url.Values
	now      time.Time
	docs     string

	token *Token
	known bool // whether the token is one, or none was sent

	ownerName, repoName string
	owner               *Owner
	repo                *Repository
}

func (s *Server) newCall(r *http.Request, body []byte) *call {
	s.nextID++
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	c := &call{
		sim: s, request: r, body: body, query: r.URL.Query(), now: s.clock.Now(), docs: "https://docs.github.com/rest",
		id: fmt.Sprintf("%04X:%X", s.nextID%0x10000, s.nextID), base: scheme + "://" + r.Host, token: &Token{}, known: true,
	}
	escaped := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(escaped, "/api/v3/"); ok {
		escaped, c.base = "/"+rest, c.base+"/api/v3"
	}
	for segment := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			decoded = segment
		}
		c.segments = append(c.segments, decoded)
	}
	if credential := r.Header.Get("Authorization"); credential != "" {
		_, value, _ := strings.Cut(credential, " ")
		if token := s.world.Tokens[value]; token != nil {
			c.token = token
		} else {
			c.known = false
		}
	}
	return c
}

func (c *call) path() string     { return strings.Join(c.segments, "/") }
func (c *call) fullName() string { return c.ownerName + "/" + c.repoName }

// head sets the headers that all answers have.
func (c *call) head(answer *reply) {
	h := answer.header
	w := c.window()
	h.Set("Date", c.now.UTC().Format(http.TimeFormat))
	h.Set("Server", "github.com")
	h.Set("X-Github-Request-Id", c.id)
	h.Set("X-Github-Media-Type", "github.v3; format=json")
	h.Set("X-Github-Api-Version-Selected", "2022-11-28")
	h.Set("X-Ratelimit-Limit", strconv.Itoa(w.limit))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(max(w.limit-w.used, 0)))
	h.Set("X-Ratelimit-Used", strconv.Itoa(min(w.used, w.limit)))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(w.reset.Unix(), 10))
	h.Set("X-Ratelimit-Resource", "core")
	if c.token.Login != "" && !c.token.Installation {
		scopes := c.token.Scopes
		if len(scopes) == 0 {
			scopes = []string{"repo"}
		}
		h.Set("X-Oauth-Scopes", strings.Join(scopes, ", "))
		h.Set("X-Accepted-Oauth-Scopes", "")
	}
}

func ok(body any) *reply { return &reply{status: http.StatusOK, body: body, header: http.Header{}} }
func created(body any) *reply {
	return &reply{status: http.StatusCreated, body: body, header: http.Header{}}
}
func empty() *reply { return &reply{status: http.StatusNoContent, header: http.Header{}} }

// fail is a refusal in GitHub's words.
func (c *call) fail(status int, message string) *reply {
	return &reply{status: status, header: http.Header{}, body: object{
		"message": message, "documentation_url": c.docs, "status": strconv.Itoa(status),
	}}
}

func (c *call) notFound() *reply { return c.fail(http.StatusNotFound, "Not Found") }

// invalid is a refusal with the reasons as texts, and invalidField one with the field
// (https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed).
func (c *call) invalid(reasons ...string) *reply {
	answer := c.fail(http.StatusUnprocessableEntity, "Validation Failed")
	answer.body.(object)["errors"] = reasons
	return answer
}

func (c *call) invalidField(resource, field, message string) *reply {
	problem := object{"resource": resource, "code": "custom", "message": message}
	if field != "" {
		problem["field"] = field
	}
	answer := c.fail(http.StatusUnprocessableEntity, "Validation Failed")
	answer.body.(object)["errors"] = []object{problem}
	return answer
}

// encoded is for refusals that come before the work.
func (c *call) encoded(answer *reply) *reply {
	raw, err := json.Marshal(answer.body)
	if err != nil {
		panic(fmt.Sprintf("the simulator's own answer: %v", err))
	}
	answer.raw = raw
	answer.header.Set("Content-Type", "application/json; charset=utf-8")
	return answer
}

// decode reads the body of a request.
func (c *call) decode(into any) *reply {
	if err := json.Unmarshal(c.body, into); err != nil {
		return c.fail(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// page gives the part of a list that was asked for, with the links to the others
// (https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api).
func page[T any](c *call, all []T) ([]T, http.Header) {
	number := func(name string, otherwise, most int) int {
		n, err := strconv.Atoi(c.query.Get(name))
		if err != nil || n < 1 {
			return otherwise
		}
		return min(n, most)
	}
	size, at := number("per_page", 30, 100), number("page", 1, 1<<30)
	last := max((len(all)+size-1)/size, 1)
	header := http.Header{}
	var links []string
	link := func(to int, rel string) {
		query := url.Values{}
		for name, values := range c.query {
			query[name] = values
		}
		query.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf("<%s?%s>; rel=%q", c.self(), query.Encode(), rel))
	}
	if at > 1 {
		link(min(at-1, last), "prev")
	}
	if at < last {
		link(at+1, "next")
		link(last, "last")
	}
	if at > 1 {
		link(1, "first")
	}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ", "))
	}
	from := min((at-1)*size, len(all))
	return all[from:min(from+size, len(all))], header
}

// self is the address of the request as links give it: by the repository's ID.
func (c *call) self() string {
	segments := c.segments
	if c.repo != nil && segments[0] == "repos" {
		segments = append([]string{"repositories", strconv.FormatInt(c.repo.ID, 10)}, segments[3:]...)
	}
	escaped := make([]string, len(segments))
	for i, segment := range segments {
		escaped[i] = url.PathEscape(segment)
	}
	return c.base + "/" + strings.Join(escaped, "/")
}

// listed is a page of a list as an answer.
func listed[T any](c *call, all []T) *reply {
	part, header := page(c, all)
	if part == nil {
		part = []T{}
	}
	return &reply{status: http.StatusOK, body: part, header: header}
}

// idOf gives a user or team the same ID each time.
func idOf(name string) int64 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	return int64(sum.Sum32())
}

func (c *call) userID() int64 { return idOf(c.token.Login) }

func (c *call) viewUser(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return object{
		"login": login, "id": idOf(login), "type": kind, "site_admin": false,
		"url": c.base + "/users/" + url.PathEscape(login), "html_url": "https://github.com/" + url.PathEscape(login),
	}
}

func (c *call) viewTeam(slug, permission string) object {
	return object{"id": idOf("team " + slug), "slug": slug, "name": slug, "permission": permission, "privacy": "closed"}
}

package github

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"strconv"
	"sync"
)

const (
	defaultCacheBytes = 32 << 20
	// entryLimit keeps one answer from taking the whole cache.
	entryLimit = 4 << 20
)

// conditional asks again with the ETag of the answer it has: one that did not change costs nothing of the rate limit
// (https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
// What it gives back in the place of a 304 is the answer it kept, with the headers of the new one. It never answers
// by itself.
type conditional struct {
	base  http.RoundTripper
	limit int

	lock   sync.Mutex
	kept   map[string]*list.Element
	recent *list.List // of *answer, the latest first
	size   int
}

type answer struct {
	key, etag string
	header    http.Header
	body      []byte
}

func newConditional(base http.RoundTripper, limit int) *conditional {
	return &conditional{
		base: base, limit: orDefault(limit, defaultCacheBytes), kept: map[string]*list.Element{}, recent: list.New(),
	}
}

func (c *conditional) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || c.limit < 0 {
		return c.base.RoundTrip(request)
	}
	key := request.Header.Get("Accept") + " " + request.URL.String()
	known := c.lookup(key)
	if known != nil {
		request = request.Clone(request.Context())
		request.Header.Set("If-None-Match", known.etag)
	}
	response, err := c.base.RoundTrip(request)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotModified && known != nil:
		return known.instead(response), nil
	case response.StatusCode != http.StatusOK || response.Header.Get("ETag") == "":
		c.forget(key)
		return response, nil
	}
	return c.keep(key, response)
}

// instead gives the answer that was kept in the place of a 304.
func (a *answer) instead(notModified *http.Response) *http.Response {
	_ = notModified.Body.Close() // it has none
	header := a.header.Clone()
	for name, values := range notModified.Header {
		if name != "Content-Length" && name != "Content-Type" {
			header[name] = values
		}
	}
	given := *notModified
	given.StatusCode, given.Status, given.Header = http.StatusOK, "200 OK", header
	given.Body, given.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	return &given
}

// keep reads an answer and keeps it, if it isn't too large.
func (c *conditional) keep(key string, response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read to its end, or what is left is worth nothing
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	c.forget(key)
	if len(body) > min(entryLimit, c.limit) {
		return response, nil
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.kept[key] = c.recent.PushFront(&answer{
		key: key, etag: response.Header.Get("ETag"), header: response.Header.Clone(), body: body,
	})
	for c.size += len(body); c.size > c.limit; {
		c.drop(c.recent.Back())
	}
	return response, nil
}

func (c *conditional) lookup(key string) *answer {
	c.lock.Lock()
	defer c.lock.Unlock()
	element, ok := c.kept[key]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*answer)
}

func (c *conditional) forget(key string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if element, ok := c.kept[key]; ok {
		c.drop(element)
	}
}

// drop is called under the lock.
func (c *conditional) drop(element *list.Element) {
	dropped := c.recent.Remove(element).(*answer)
	delete(c.kept, dropped.key)
	c.size -= len(dropped.body)
}

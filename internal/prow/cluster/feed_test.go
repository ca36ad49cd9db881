package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/kube"
)

// server is an API server of one kind, whose objects are a text each.
type server struct {
	mu      sync.Mutex
	objects map[string]string // by namespace/name
	version int
	lists   int
	watches map[string]*watch.FakeWatcher // by namespace
	// list and open fail a list or a watch of a namespace, when they are set and give an error.
	list, open func(namespace string) error
	// hides makes lists empty.
	hides bool
}

func newServer(objects ...string) *server {
	s := &server{objects: map[string]string{}, watches: map[string]*watch.FakeWatcher{}}
	for _, at := range objects {
		s.objects[at] = "1"
	}
	return s
}

func object(at, version string) *corev1.ConfigMap {
	namespace, name, _ := strings.Cut(at, "/")
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: version},
	}
}

var resource = schema.GroupResource{Resource: "things"}

func (s *server) kind() kind[string] {
	return kind[string]{
		name: "things",
		list: func(_ context.Context, namespace string, _ metav1.ListOptions) (page, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lists++
			if s.list != nil {
				if err := s.list(namespace); err != nil {
					return page{}, err
				}
			}
			found := page{ListInterface: &metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
			for at, version := range s.objects {
				if (namespace == "" || strings.HasPrefix(at, namespace+"/")) && !s.hides {
					found.objects = append(found.objects, object(at, version))
				}
			}
			return found, nil
		},
		watch: func(_ context.Context, namespace string, _ metav1.ListOptions) (watch.Interface, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.open != nil {
				if err := s.open(namespace); err != nil {
					return nil, err
				}
			}
			s.watches[namespace] = watch.NewFakeWithChanSize(10, false)
			return s.watches[namespace], nil
		},
		get: func(_ context.Context, namespace, name string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.objects[namespace+"/"+name] == "" {
				return apierrors.NewNotFound(resource, name)
			}
			return nil
		},
		read: func(object metav1.Object) (string, error) {
			if strings.HasPrefix(object.GetName(), "bad") && object.GetResourceVersion() != "good" {
				return "", errors.New("it is bad")
			}
			return object.GetNamespace() + "/" + object.GetName() + "@" + object.GetResourceVersion(), nil
		},
	}
}

// change changes the server, and waits until the mirror has seen it.
func (s *server) change(edit func()) {
	s.mu.Lock()
	s.version++
	edit()
	s.mu.Unlock()
	synctest.Wait()
}

// state is how often was listed, and the watch of all namespaces.
func (s *server) state() (lists int, all *watch.FakeWatcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.watches[""]
}

func refused(string) error { return apierrors.NewForbidden(resource, "", errors.New("no")) }

// mirrored runs a mirror of a server in a bubble of time, and ends it.
func mirrored(t *testing.T, s *server, named []string, test func(m *Mirror[string], news func() []string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		m := newMirror(&kube.Cluster{Clock: clock.Real{}}, s.kind(), named, func(change Change[string]) {
			mu.Lock()
			defer mu.Unlock()
			words := []string{"seen", "gone", "unreadable", "unseen"}
			told = append(told, words[change.News]+" "+change.Object+change.Malformed.Name)
		})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = m.Run(ctx) })
		synctest.Wait()
		test(m, func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			said := told
			told = nil
			slices.Sort(said)
			return said
		})
		stop()
		running.Wait()
	})
}

func expectNews(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the news are %q, and not %q", got, want)
	}
}

func TestAMirrorFollows(t *testing.T) {
	s := newServer("a/one", "b/bad")
	mirrored(t, s, nil, func(m *Mirror[string], news func() []string) {
		expectNews(t, news(), "seen a/one@1", "unreadable bad")
		if health := m.Health(); !health.Current() || !health.Coverage.All() || len(m.Malformed()) != 1 {
			t.Errorf("%+v, malformed %v", health, m.Malformed())
		}
		s.change(func() {
			s.watches[""].Add(object("a/two", "2"))
			s.watches[""].Modify(object("a/one", "3"))
			s.watches[""].Modify(object("b/bad", "good"))
			s.watches[""].Delete(object("a/two", "4"))
			s.watches[""].Delete(object("a/never-seen", "5"))
		})
		expectNews(t, news(), "gone a/two@2", "seen a/one@3", "seen a/two@2", "seen b/bad@good")
		if object, found := m.Get("a", "one"); !found || object != "a/one@3" || m.Len() != 2 || len(m.Malformed()) != 0 {
			t.Errorf("%q of %d, malformed %v", object, m.Len(), m.Malformed())
		}
		s.change(func() { s.watches[""].Modify(object("a/bad", "6")); s.watches[""].Delete(object("a/bad", "7")) })
		expectNews(t, news(), "gone bad", "unreadable bad")
	})
}

// TestAWatchThatEndsIsGoneOnWith: nothing is listed again, and nothing is told twice.
func TestAWatchThatEndsIsGoneOnWith(t *testing.T) {
	s := newServer("a/one")
	mirrored(t, s, nil, func(m *Mirror[string], news func() []string) {
		news()
		s.change(func() { s.watches[""].Stop() })
		time.Sleep(time.Second)
		s.change(func() { s.watches[""].Add(object("a/two", "2")) })
		expectNews(t, news(), "seen a/two@2")
		lists, before := s.state()
		if lists != 1 || !m.Health().Current() {
			t.Errorf("%d lists, %+v", lists, m.Health())
		}
		// A watch that is silent for too long is opened again.
		time.Sleep(silence + time.Second)
		synctest.Wait()
		if lists, now := s.state(); now == before || lists != 1 {
			t.Errorf("a silent watch was kept, or %d lists", lists)
		}
	})
}

// TestAnExpiredWatchIsListedAnew: what went meanwhile is gone, and what is as it was is no news.
func TestAnExpiredWatchIsListedAnew(t *testing.T) {
	s := newServer("a/one", "a/two", "a/three", "a/bad")
	mirrored(t, s, nil, func(m *Mirror[string], news func() []string) {
		news()
		expired := apierrors.NewResourceExpired("too old").Status()
		s.change(func() {
			delete(s.objects, "a/one")
			delete(s.objects, "a/bad")
			s.objects["a/two"] = "2"
			s.watches[""].Error(&expired)
		})
		time.Sleep(time.Second)
		expectNews(t, news(), "gone a/one@1", "gone bad", "seen a/two@2")
		if lists, _ := s.state(); lists != 2 || m.Len() != 2 {
			t.Errorf("%d lists, %d objects", lists, m.Len())
		}
	})
}

// TestAnEmptyListIsNoProof: one of the objects is asked for before all count as gone.
func TestAnEmptyListIsNoProof(t *testing.T) {
	s := newServer("a/one")
	mirrored(t, s, nil, func(m *Mirror[string], news func() []string) {
		news()
		expired := apierrors.NewResourceExpired("too old").Status()
		s.change(func() { s.hides = true; s.watches[""].Error(&expired) })
		time.Sleep(10 * time.Second)
		expectNews(t, news())
		if health := m.Health(); health.Current() || m.Len() != 1 {
			t.Errorf("%d objects, %+v", m.Len(), health)
		}
		s.change(func() { delete(s.objects, "a/one") })
		time.Sleep(10 * time.Second)
		expectNews(t, news(), "gone a/one@1")
		if !m.Health().Current() {
			t.Errorf("%+v", m.Health())
		}
	})
}

// TestAnInterruptionIsTold, from when on it lasts, until the watch goes on.
func TestAnInterruptionIsTold(t *testing.T) {
	s := newServer("a/one")
	mirrored(t, s, nil, func(m *Mirror[string], news func() []string) {
		news()
		s.change(func() {
			s.open = func(string) error { return apierrors.NewInternalError(errors.New("etcd is away")) }
			s.watches[""].Stop()
		})
		began := time.Now()
		time.Sleep(time.Minute)
		if health := m.Health(); health.Current() || health.Since.Sub(began) > time.Second {
			t.Errorf("since %s: %+v", began, health)
		}
		s.change(func() { s.open = nil })
		time.Sleep(10 * time.Second)
		health := m.Health()
		if lists, _ := s.state(); !health.Current() || lists != 1 {
			t.Errorf("%d lists, %+v", lists, health)
		}
	})
}

// TestWhereAllIsRefusedTheNamedAreSeen, and what is not seen is said.
func TestWhereAllIsRefusedTheNamedAreSeen(t *testing.T) {
	s := newServer("a/one", "b/two", "c/three")
	allowed := map[string]bool{"a": true}
	s.list = func(namespace string) error {
		if allowed[namespace] {
			return nil
		}
		return refused(namespace)
	}
	mirrored(t, s, []string{"a", "b", "a"}, func(m *Mirror[string], news func() []string) {
		expectNews(t, news(), "seen a/one@1")
		health := m.Health()
		unseen := slices.Collect(maps.Keys(health.Coverage.Unseen))
		if !health.Current() || health.Coverage.Sees("b") || !health.Coverage.Sees("a") ||
			!slices.Equal(unseen, []string{"b"}) {
			t.Errorf("%+v", health)
		}
		if text := health.Coverage.String(); !strings.Contains(text, "namespaces [a] only; namespace b not seen") {
			t.Error(text)
		}
		s.change(func() { allowed["b"] = true }) // somebody grants it
		time.Sleep(2 * refusedPause)
		expectNews(t, news(), "seen b/two@1")
		if !m.Health().Coverage.Sees("b") {
			t.Errorf("%+v", m.Health())
		}
	})
}

// TestWhatIsRefusedLaterIsUnseen, and not gone.
func TestWhatIsRefusedLaterIsUnseen(t *testing.T) {
	s := newServer("a/one", "b/two")
	mirrored(t, s, []string{"a"}, func(m *Mirror[string], news func() []string) {
		news()
		s.change(func() {
			s.open = func(namespace string) error {
				if namespace == "" {
					return refused(namespace)
				}
				return nil
			}
			s.watches[""].Stop()
		})
		time.Sleep(refusedPause / 2)
		expectNews(t, news()) // a single refusal may be a token that is renewed
		time.Sleep(refusals * refusedPause)
		expectNews(t, news(), "unseen b/two@1")
		if m.Len() != 1 || !m.Health().Coverage.Sees("a") || m.Health().Coverage.Sees("b") {
			t.Errorf("%d objects, %+v", m.Len(), m.Health())
		}
	})
}

func TestWithoutNamedNamespacesARefusalEndsTheMirror(t *testing.T) {
	s := newServer("a/one")
	s.list = refused
	m := newMirror(&kube.Cluster{Clock: clock.Real{}}, s.kind(), nil, nil)
	if err := m.Run(t.Context()); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("%v", err)
	}
	if m.Health().Current() {
		t.Error("a mirror that saw nothing is current")
	}
}

func TestAReadingSaysWhereItLooked(t *testing.T) {
	c := &kube.Cluster{Clock: clock.Real{}}
	s := newServer("a/one", "b/two", "b/bad")
	all, err := read(t.Context(), c, s.kind(), []string{"a"})
	if err != nil || len(all.Objects) != 2 || len(all.Malformed) != 1 || !all.Coverage.Sees("c") {
		t.Errorf("%+v: %v", all, err)
	}
	s.list = func(namespace string) error {
		if namespace == "a" {
			return nil
		}
		return refused(namespace)
	}
	some, err := read(t.Context(), c, s.kind(), []string{"a", "b"})
	if err != nil || len(some.Objects) != 1 || some.Coverage.All() || some.Coverage.Sees("b") ||
		some.Coverage.Unseen["b"] == nil {
		t.Errorf("%+v: %v", some, err)
	}
	if _, err := read(t.Context(), c, s.kind(), []string{"b"}); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("where nothing can be seen: %v", err)
	}
	if _, err := read(t.Context(), c, s.kind(), nil); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("where nothing is named: %v", err)
	}
}

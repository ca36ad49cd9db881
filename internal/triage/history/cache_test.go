package history_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/history"
)

// sameWithCache fails unless every answer is the same byte for byte with the cache and without.
func sameWithCache(t *testing.T, folder string, o history.Options) *history.History {
	t.Helper()
	without := o
	without.Cache = ""
	plain, cached := open(t, folder, without), open(t, folder, o)
	if different := cmp.Diff(answers(t, plain, noon), answers(t, cached, noon)); different != "" {
		t.Error(different)
	}
	if different := cmp.Diff(plain.Problems, cached.Problems); different != "" {
		t.Error(different)
	}
	return cached
}

// cacheFile is the one that the cache is.
func cacheFile(t *testing.T, cache string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	return files[0]
}

func TestCacheIsUsed(t *testing.T) {
	folder, cache := t.TempDir(), t.TempDir()
	file := record(t, folder, entry("1", "pr-1", noon, "g1-a"))[0]
	o := history.Options{Cache: cache}
	sameWithCache(t, folder, o)
	// The same name, size and time: only the cache can still know what was there.
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, lines(t, folder)[file][:info.Size()-3]+"xx\n")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if h := open(t, folder, o); h.Builds() != 1 || h.Uncached != nil {
		t.Errorf("the cache was not used: %v, %v", h.Problems, h.Uncached)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if h := open(t, folder, o); h.Builds() != 0 || len(h.Problems) != 1 {
		t.Errorf("a file of another time was not read again: %v", h.Problems)
	}
}

func TestAnswersAreTheSameWithAndWithoutTheCache(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 13))
	folder, cache := someHistory(t, random, 40), filepath.Join(t.TempDir(), "made", "for it")
	write(t, filepath.Join(folder, "broken.jsonl"), "hello\n\n{}\n{")
	o := history.Options{Cache: cache}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"made", func() {}},
		{"read", func() {}},
		{"one file more", func() { record(t, folder, entry("more", "pr-9", noon, "g1-a")) }},
		{"a file that grew", func() {
			for file, text := range lines(t, folder) {
				write(t, file, text+"more\n")
				break
			}
		}},
		{"a file less", func() {
			for file := range lines(t, folder) {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				break
			}
		}},
		{"deleted", func() {
			if err := os.RemoveAll(cache); err != nil {
				t.Fatal(err)
			}
		}},
		{"no database", func() { write(t, cacheFile(t, cache), "this is no database at all, and long enough to be seen") }},
		{"cut", func() {
			if err := os.Truncate(cacheFile(t, cache), 5000); err != nil {
				t.Fatal(err)
			}
		}},
		{"empty", func() { write(t, cacheFile(t, cache), "") }},
		{"spoiled in the middle", func() {
			file := cacheFile(t, cache)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				raw[len(raw)/2+i] ^= 0xff
			}
			write(t, file, string(raw))
		}},
		{"of another grouping", func() {
			o.Grouping = history.Grouping{Version: "g2", Key: func(x history.Example) string { return "g2-" + x.Message }}
		}},
		{"of another grouping, again", func() {}},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			if h := sameWithCache(t, folder, o); h.Uncached != nil {
				t.Errorf("not rebuilt: %v", h.Uncached)
			}
			sameWithCache(t, folder, o)
		})
	}
}

func TestWithoutAPlaceForTheCacheItGoesOn(t *testing.T) {
	folder, cache := t.TempDir(), filepath.Join(t.TempDir(), "file")
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	write(t, cache, "not a folder")
	if h := sameWithCache(t, folder, history.Options{Cache: cache}); h.Uncached == nil {
		t.Error("nothing says why there is no cache")
	}
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere: no folder is read-only")
	}
	readOnly := t.TempDir()
	if err := os.Chmod(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	if h := sameWithCache(t, folder, history.Options{Cache: readOnly}); h.Uncached == nil {
		t.Error("nothing says why there is no cache")
	}
}

func TestCacheThatIsInUseIsLeftAlone(t *testing.T) {
	folder, cache := t.TempDir(), t.TempDir()
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	o := history.Options{Cache: cache}
	sameWithCache(t, folder, o)
	file := cacheFile(t, cache)
	database(t, file, "BEGIN EXCLUSIVE")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if h := sameWithCache(t, folder, o); h.Uncached == nil {
		t.Error("nothing says that the cache was in use")
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("another process's cache was taken away: %v", err)
	}
}

// database is a cache on which another process did something, and didn't end.
func database(t *testing.T, file, statement string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContentThatWasChangedInTheCacheIsNotBelieved(t *testing.T) {
	folder, cache := t.TempDir(), t.TempDir()
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	o := history.Options{Cache: cache}
	sameWithCache(t, folder, o)
	changed := database(t, cacheFile(t, cache),
		"UPDATE files SET content = CAST(replace(CAST(content AS TEXT), 'g1-a', 'g1-b') AS BLOB)")
	if err := changed.Close(); err != nil {
		t.Fatal(err)
	}
	if h := sameWithCache(t, folder, o); h.Uncached != nil {
		t.Error(h.Uncached)
	}
}

func TestFilesThatAreGoneLeaveTheCache(t *testing.T) {
	folder, cache := t.TempDir(), t.TempDir()
	files := record(t, folder, entry("1", "pr-1", noon, "g1-a"), entry("2", "pr-1", noon, "g1-a"))
	o := history.Options{Cache: cache}
	sameWithCache(t, folder, o)
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	record(t, folder, entry("3", "pr-1", noon, "g1-a"))
	sameWithCache(t, folder, o)
	var rows int
	db := database(t, cacheFile(t, cache), "SELECT 1")
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM files").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d files are kept: %v", rows, err)
	}
}

func TestFileThatCouldNotBeReadIsNotKept(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(errors.New("input/output error")))
	if problems, fails := history.Fails(broken); !fails || len(problems) != 2 || problems[1].Line != 2 {
		t.Errorf("%v, %t", problems, fails)
	}
	if problems, fails := history.Fails(strings.NewReader("{}\n")); fails || len(problems) != 1 {
		t.Errorf("lines that are no good are no failure to read: %v, %t", problems, fails)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	folder := t.TempDir()
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, cache := range []string{"", t.TempDir()} {
		h, err := history.Open(ctx, folder, history.Options{Cache: cache})
		if h != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", h, err)
		}
	}
}

// BenchmarkOpen reads 10,000 runs of five groups each: as files of their own, as one file, and with the cache.
func BenchmarkOpen(b *testing.B) {
	folder, one, cache := b.TempDir(), b.TempDir(), b.TempDir()
	var all []byte
	for i := range 10_000 {
		e := entry(fmt.Sprint(i), fmt.Sprint("pr-", i%300), noon.Add(-time.Duration(i)*4*time.Minute),
			"g1-a", "g1-b", "g1-c", "g1-d", fmt.Sprint("g1-", i))
		for k := range e.Groups {
			e.Groups[k].Example.Text = strings.Repeat("12:00:01 node pool-7 is not ready: <kubelet stopped posting>\n", 16)
		}
		raw := history.Line(b, e)
		all = append(all, raw...)
		name := filepath.Join(folder, fmt.Sprintf("2026-%02d", i%12), fmt.Sprint(i, ".jsonl"))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(one, "all.jsonl"), all, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, way := range []struct{ name, folder, cache string }{
		{"files", folder, ""}, {"one file", one, ""}, {"cached files", folder, cache}, {"cached one file", one, cache},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(len(all)))
			for range b.N {
				h, err := history.Open(b.Context(), way.folder, history.Options{Cache: way.cache})
				if err != nil || h.Builds() != 10_000 || h.Uncached != nil {
					b.Fatal(err, h.Builds(), h.Uncached)
				}
			}
		})
	}
}

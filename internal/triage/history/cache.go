package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// cacheVersion is raised whenever what is kept, or what is made of a line, changes.
const cacheVersion = 1

// CacheFolder is where caches are kept for a user: for Options.
func CacheFolder() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder of caches: %w", err)
	}
	return filepath.Join(folder, "salve", "triage-history"), nil
}

// cache has, of each file, what was read from it. A file is the same as long as its name, size and time of change are:
// those that Record writes are named by their content.
type cache struct {
	db *sql.DB
	// about is what a kept content depends on besides the file.
	about string
	// gone are files that the folder no longer has.
	gone []string
}

// fromCache takes in what the cache has of the files, reads the others and keeps them, and gives those that are left to
// be read: all of them if there is no cache. Whatever is wrong with it is no error.
func (h *History) fromCache(ctx context.Context, files []file, folder string, history fs.FS) ([]file, error) {
	if folder == "" {
		return files, nil
	}
	path, err := h.cachePath(folder)
	if err != nil {
		h.Uncached = err
		return files, nil
	}
	missed := files
	for attempt := range 2 {
		var c *cache
		if c, err = openCache(ctx, path, h.grouping.Version); err == nil {
			missed, err = c.load(ctx, missed, h.take)
		}
		if err == nil {
			err = c.fill(ctx, h, missed, history)
			missed = nil
		}
		err = errors.Join(err, c.close())
		if err == nil || attempt > 0 || ctx.Err() != nil || inUse(err) || !discard(path) {
			break
		}
	}
	h.Uncached = err
	return missed, context.Cause(ctx)
}

func (h *History) cachePath(folder string) (string, error) {
	history, err := filepath.Abs(h.folder)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(history))
	path, err := filepath.Abs(filepath.Join(folder, hex.EncodeToString(sum[:8])+".db"))
	if err != nil {
		return "", err
	}
	return path, os.MkdirAll(folder, 0o700)
}

// inUse says that another process has the cache for longer than we wait: then nothing is wrong with it.
func inUse(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && (code.Code()&0xff == sqlite3.SQLITE_BUSY || code.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

// discard takes a cache away that can't be used, and is false where it can't.
func discard(path string) bool {
	for _, part := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Remove(path + part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func openCache(ctx context.Context, path, grouping string) (*cache, error) {
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(500)"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("opening the cache: %w", err)
	}
	db.SetMaxOpenConns(1)
	c := &cache{db: db, about: fmt.Sprintf("%d %s %s", cacheVersion, Format, grouping)}
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS files (
		about TEXT, name TEXT, size INTEGER, modified INTEGER, content BLOB, sum BLOB, PRIMARY KEY (name))`); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the cache: %w", err), db.Close())
	}
	return c, nil
}

func (c *cache) close() error {
	if c == nil {
		return nil
	}
	return c.db.Close()
}

// load takes in the files that the cache has as they are, and gives the others, also beside an error.
func (c *cache) load(ctx context.Context, files []file, take func(content)) (missed []file, err error) {
	wanted, listed := map[string]file{}, map[string]bool{}
	for _, f := range files {
		wanted[f.name], listed[f.name] = f, true
	}
	defer func() {
		for _, f := range files {
			if _, still := wanted[f.name]; still {
				missed = append(missed, f)
			}
		}
	}()
	rows, err := c.db.QueryContext(ctx, "SELECT name, size, modified, content, sum FROM files WHERE about = ?", c.about)
	if err != nil {
		return nil, fmt.Errorf("reading the cache: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f file
		var raw, sum sql.RawBytes
		if err := rows.Scan(&f.name, &f.size, &f.modified, &raw, &sum); err != nil {
			return nil, fmt.Errorf("reading the cache: %w", err)
		}
		if !listed[f.name] {
			c.gone = append(c.gone, f.name)
		}
		if wanted[f.name] != f || !bytes.Equal(sum, c.sum(f, raw)) {
			continue
		}
		var kept content
		if err := json.Unmarshal(raw, &kept); err != nil {
			return nil, fmt.Errorf("reading the cache: %w", err)
		}
		take(kept)
		delete(wanted, f.name)
	}
	return nil, rows.Err()
}

// fill reads the files that the cache hasn't, and keeps them. All are read, whatever becomes of the cache.
func (c *cache) fill(ctx context.Context, h *History, missed []file, history fs.FS) error {
	if len(missed) == 0 {
		return nil
	}
	tx, err := c.db.BeginTx(ctx, nil)
	failed := err
	if err == nil {
		failed = c.forget(ctx, tx)
	}
	readErr := h.read(ctx, history, missed, func(f file, read content) {
		if failed == nil && !read.failed {
			failed = c.keep(ctx, tx, f, read)
		}
	})
	if err != nil {
		return fmt.Errorf("writing the cache: %w", err)
	}
	if failed = errors.Join(failed, readErr); failed != nil {
		return errors.Join(fmt.Errorf("writing the cache: %w", failed), tx.Rollback())
	}
	return tx.Commit()
}

// forget takes out what nobody will ask for any more.
func (c *cache) forget(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM files WHERE about <> ?", c.about)
	for _, name := range c.gone {
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM files WHERE name = ?", name)
		}
	}
	return err
}

func (c *cache) keep(ctx context.Context, tx *sql.Tx, f file, read content) error {
	raw, err := json.Marshal(read)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO files (about, name, size, modified, content, sum)
		VALUES (?, ?, ?, ?, ?, ?)`, c.about, f.name, f.size, f.modified, raw, c.sum(f, raw))
	return err
}

func (c *cache) sum(f file, raw []byte) []byte {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%q %q %d %d\n", c.about, f.name, f.size, f.modified) // never fails
	_, _ = hash.Write(raw)
	return hash.Sum(nil)
}

package fleetstatus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"salve/internal/hotfix/event"
)

// eventsFolder is what the folder of events is called in a state folder.
const eventsFolder = "events"

// node is one whose events were collected.
type node struct {
	name   string
	events []event.Event
}

// collect visits the nodes of a folder: each folder in it is a node's, with its events in it or in «events», as a state
// folder has them; or it is itself one node's.
func collect(ctx context.Context, dir string, r *reader, visit func(node)) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := namesOf(root)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if isDir(root, eventsFolder) || slices.ContainsFunc(names, eventName.MatchString) {
		return one(dir, root, r, visit)
	}
	for _, name := range names {
		switch err := ctx.Err(); {
		case err != nil:
			return err
		case !isDir(root, name):
			r.add(foreign, filepath.Join(dir, name), "not a node's folder")
			continue
		}
		of, err := root.OpenRoot(name)
		if err != nil {
			r.add(unread, filepath.Join(dir, name), bare(err).Error())
			visit(node{name: name})
			continue
		}
		visit(node{name: name, events: r.ofNode(of, filepath.Join(dir, name))})
		_ = of.Close() // it was only read
	}
	return nil
}

// one is a folder that is a single node's.
func one(dir string, root *os.Root, r *reader, visit func(node)) error {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(absolute)
	if name == eventsFolder {
		name = filepath.Base(filepath.Dir(absolute))
	}
	visit(node{name: name, events: r.ofNode(root, dir)})
	return nil
}

// ofNode reads the events of a node's folder. A state folder has other things beside them.
func (r *reader) ofNode(folder *os.Root, path string) []event.Event {
	if !isDir(folder, eventsFolder) {
		return r.readEvents(folder, path)
	}
	events, err := folder.OpenRoot(eventsFolder)
	if err != nil {
		r.add(unread, filepath.Join(path, eventsFolder), bare(err).Error())
		return nil
	}
	defer events.Close()
	return r.readEvents(events, filepath.Join(path, eventsFolder))
}

// isDir: links don't count, wherever they lead.
func isDir(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.IsDir()
}

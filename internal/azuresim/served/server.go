package served

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/azuresim"
	"salve/internal/azuresim/managed"
	"salve/internal/clock"
)

const (
	// attachPatience bounds how long the given cluster may take to answer and to be cleared.
	attachPatience = time.Minute
	// beginPatience bounds how long it may then take to become what the scenario begins with.
	beginPatience = 3 * time.Minute
	// endPatience bounds how long requests that are being answered are waited for.
	endPatience = 5 * time.Second
	// clearPatience bounds the removal of what was made in the given cluster.
	clearPatience = time.Minute
	// headerPatience bounds how long a client may take to send a request's header.
	headerPatience = 10 * time.Second
)

// Options say what is served, and where.
type Options struct {
	// Scenario is served in real time; see its Accelerated.
	Scenario azuresim.Scenario
	// Kubeconfig is the way into the given cluster, for somebody who may do everything there. HandOut is what clients get
	// from ARM; the same when nil. ReadKubeconfig gives both.
	Kubeconfig []byte
	HandOut    []byte
	// Listen is an address of the loopback interface; empty is any free port of 127.0.0.1.
	Listen string
	// CAFile is where the authority's certificate is written; empty is a file in a new folder that goes with the Server.
	CAFile string
	// RemoveAtEnd removes at the end what was made in the given cluster; otherwise it stays as it is.
	RemoveAtEnd bool
	// Log is told of each request at level debug, and of failures of the given cluster; nil is nobody.
	Log *slog.Logger
}

// Server is an embedded Azure that is being served.
type Server struct {
	scenario azuresim.Scenario
	world    *azuresim.World
	cluster  *managed.Cluster
	http     *http.Server
	url      string
	caFile   string
	log      *slog.Logger

	removeAtEnd bool
	ownFolder   string // of the authority's file, when it was made here
	served      chan error
	gone        sync.WaitGroup
}

// Start brings the given cluster to where the scenario begins and then serves it. What an earlier Server of the same
// managed cluster left there is removed first. Close ends it.
func Start(ctx context.Context, options Options) (_ *Server, err error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		scenario: options.Scenario, log: options.Log, removeAtEnd: options.RemoveAtEnd, served: make(chan error, 1),
	}
	listener, err := listen(options.Listen)
	if err != nil {
		return nil, err
	}
	s.url = "https://" + listener.Addr().String()
	defer func() {
		if err != nil {
			s.removeAtEnd = true // nothing was served: leave nothing behind
			err = errors.Join(err, listener.Close(), s.release(context.WithoutCancel(ctx)))
		}
	}()
	certificate, authority, err := certify(time.Now(), listener.Addr().(*net.TCPAddr).IP)
	if err != nil {
		return nil, err
	}
	if err := s.writeAuthority(options.CAFile, authority); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, options); err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerPatience,
		ErrorLog:  slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	s.world.Begin()
	s.gone.Go(func() { s.served <- s.http.ServeTLS(listener, "", "") })
	return s, nil
}

// prepare makes the World, and the given cluster what it begins with.
func (s *Server) prepare(ctx context.Context, options Options) error {
	if options.HandOut == nil {
		options.HandOut = options.Kubeconfig
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(options.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the given cluster's kubeconfig: %w", err)
	}
	attaching, cancel := clock.WithTimeout(ctx, clock.Real{}, attachPatience)
	defer cancel()
	s.cluster, err = managed.Attach(attaching, managed.Options{
		Config: config, Owner: options.Scenario.Cluster, Clock: clock.Real{}, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.world, err = azuresim.New(options.Scenario,
		azuresim.Options{Kubernetes: s.cluster, Kubeconfig: options.HandOut, Paused: true})
	if err != nil {
		return err
	}
	starting, cancel := clock.WithTimeout(ctx, clock.Real{}, beginPatience)
	defer cancel()
	return s.cluster.Await(starting)
}

// CheckAddress refuses what is not an address of the loopback interface.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not an address of the loopback interface, such as 127.0.0.1:8443", address)
	}
	return nil
}

func listen(address string) (*net.TCPListener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", address, err)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", address, err)
	}
	return listener, nil
}

func (s *Server) writeAuthority(path string, authority []byte) error {
	if path == "" {
		folder, err := os.MkdirTemp("", "salve-sim-")
		if err != nil {
			return fmt.Errorf("making a folder for the authority's certificate: %w", err)
		}
		s.ownFolder, path = folder, filepath.Join(folder, "ca.pem")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("writing the authority's certificate: %w", err)
	}
	s.caFile = path
	if err := os.WriteFile(path, authority, 0o644); err != nil { //nolint:gosec // G306: a certificate is public
		return fmt.Errorf("writing the authority's certificate: %w", err)
	}
	return nil
}

// URL is where ARM and the token service are.
func (s *Server) URL() string { return s.url }

// CAFile is the path of the certificate that clients have to trust.
func (s *Server) CAFile() string { return s.caFile }

// ControlURL is where the control endpoint is.
func (s *Server) ControlURL() string { return s.url + controlPath }

// Wait serves until ctx ends, or until serving fails.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case err := <-s.served:
		return fmt.Errorf("serving the embedded Azure: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// Close ends the serving: what is being answered is answered, but for calls that hang. It is bounded in time by itself
// too.
func (s *Server) Close(ctx context.Context) error {
	s.world.Close() // lets go of calls that hang
	ending, cancel := clock.WithTimeout(ctx, clock.Real{}, endPatience)
	defer cancel()
	if err := s.http.Shutdown(ending); err != nil {
		s.log.Warn("requests were cut off", "error", errors.Join(err, s.http.Close()))
	}
	s.gone.Wait()
	return s.release(ctx)
}

// release lets go of everything but the listener.
func (s *Server) release(ctx context.Context) error {
	var problems []error
	if s.world != nil {
		s.world.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
		if s.removeAtEnd {
			clearing, cancel := clock.WithTimeout(ctx, clock.Real{}, clearPatience)
			defer cancel()
			problems = append(problems, s.cluster.Clear(clearing))
		}
	}
	if s.ownFolder != "" {
		problems = append(problems, os.RemoveAll(s.ownFolder))
	}
	return errors.Join(problems...)
}

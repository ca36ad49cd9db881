package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/permit"
	"salve/internal/redact"
	"salve/internal/telemetry"
	"salve/internal/telemetry/clusterevents"
	"salve/internal/telemetry/metrics"
	"salve/internal/telemetry/notify"
	"salve/internal/telemetry/tracing"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
)

// deliveryTime is how long the end of a command may wait for what is still to be told of its runs.
const deliveryTime = 10 * time.Second

// telemetryFlags say who is told of runs, besides who reads the output.
type telemetryFlags struct {
	listen, file, notify string
	events               bool
}

func (t *telemetryFlags) addFlags(flags *pflag.FlagSet) {
	t.addMetricsFlags(flags)
	flags.StringVar(&t.notify, "notify", "", "`FILE` that says who gets a message for each outcome (docs/monitoring.md)")
	flags.BoolVar(&t.events, "kubernetes-events", false,
		"write Kubernetes Events about the target's lease, in the journal's namespace")
}

// addMetricsFlags are those of commands that have no run of which others could be told.
func (t *telemetryFlags) addMetricsFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.listen, "metrics-listen", "", "`ADDRESS` to serve Prometheus metrics at while the command lasts")
	flags.StringVar(&t.file, "metrics-file", "",
		"`FILE` to write metrics to at the end, for node_exporter's textfile collector")
}

// observation is what a process tells of its runs. The zero observation tells nobody.
type observation struct {
	sinks   telemetry.Sinks
	metrics *metrics.Metrics
	tracer  *tracing.Tracer
	// unserve ends the serving of metrics; nil where they are not served.
	unserve func()
}

// observe starts telling, before anything is changed: what is invalid is wrong usage. Close of the observation is for
// the end of the process.
func (a *app) observe(ctx context.Context, flags telemetryFlags, namespace string, open clusterOpener) error {
	o := &a.observation
	if flags.listen != "" || flags.file != "" {
		o.metrics = metrics.New(flags.file)
		o.sinks = append(o.sinks, o.metrics)
	}
	if flags.listen != "" {
		stop, err := serveMetrics(ctx, flags.listen, o.metrics.Handler())
		var refused syscall.Errno
		switch {
		case errors.As(err, &refused): // the address is one, and something of this machine is in the way: no run fails for it
			fmt.Fprintf(a.stderr, "metrics: not served: --metrics-listen: %v\n", err)
		case err != nil:
			return usage("--metrics-listen: %v", err)
		}
		o.unserve = stop
	}
	if flags.notify != "" {
		notifier, err := a.notifier(flags.notify) //nolint:contextcheck // it outlives the command, until it is closed
		if err != nil {
			return usage("--notify: %s: %v", flags.notify, err)
		}
		o.sinks = append(o.sinks, notifier)
	}
	if tracing.Enabled(a.lookup) {
		// The variables are for all programs of a machine or a cluster, and nobody has given them to this one: no run is
		// refused for them.
		tracer, err := tracing.New(ctx, builtFrom().String(), a.lookup)
		if err != nil {
			fmt.Fprintln(a.stderr, redact.String("traces: off: "+err.Error()))
		} else {
			o.tracer, o.sinks = tracer, append(o.sinks, tracer)
		}
	}
	if flags.events {
		o.sinks = append(o.sinks, eventsIn(namespace, open)) //nolint:contextcheck // as above
	}
	return nil
}

func (a *app) notifier(path string) (*notify.Notifier, error) {
	const most = 1 << 20
	raw, err := readBounded(path, most)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // a nameless host is told as it is
	return notify.New(notify.Options{
		Config: raw, Runbooks: a.runbookNames(), Source: a.name() + "@" + host, Clock: clock.RealClock{},
		Lookups: notify.Lookups{Env: a.lookup, File: func(path string) ([]byte, error) { return readBounded(path, most) }},
	})
}

// eventsIn writes Events beside the leases.
func eventsIn(namespace string, open clusterOpener) *clusterevents.Events {
	return clusterevents.New(clusterevents.Options{
		Namespace: namespace, Lease: configmap.LeaseName, Clock: clock.RealClock{},
		Open: func(ctx context.Context) (kubernetes.Interface, error) {
			cluster, err := open(ctx)
			switch {
			case err != nil:
				return nil, err
			case cluster == nil:
				return nil, errors.New("the target has no cluster")
			}
			return kube.EventClient(cluster, permit.ForEvents(namespace))
		},
	})
}

// close delivers what is still to be told. What can't be delivered changes nothing: it is said.
func (o *observation) close(say func(string)) {
	ctx, cancel := context.WithTimeout(context.Background(), deliveryTime)
	defer cancel()
	if err := o.sinks.Close(ctx); err != nil {
		say(redact.String(err.Error()))
	}
	if o.unserve != nil {
		o.unserve()
	}
	*o = observation{}
}

// appended is told of writes to the journal; nil where nobody measures them.
func (o *observation) appended() func(int, time.Duration, error) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Appended
}

// leased is told how long a run waited for a lease.
func (o *observation) leased(took time.Duration, err error) {
	var held *journal.HeldError
	if !errors.As(err, &held) {
		err = nil // what the run came to then is not about the lease
	}
	if o.metrics != nil {
		o.metrics.Leased(took, err)
	}
}

// within says that a run does the work of a pipeline's step.
func (o *observation) within(run, of, step string) {
	if o.tracer != nil {
		o.tracer.Within(run, of, step)
	}
}

// watch tells the observation what happens, and then who watches the run.
func (o *observation) watch(watch func(engine.Event)) func(engine.Event) { return o.sinks.Watch(watch) }

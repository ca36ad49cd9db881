package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/configuration"
	"salve/internal/pipeline/topology"
)

// placesFlags say for which places a configuration is rendered: each flag once or several times, or "all".
type placesFlags struct {
	contextFlags
	clouds, environments, regions []string
}

// everywhere stands for all places that the configuration has.
const everywhere = "all"

func (f *placesFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.clouds, "config-cloud", nil,
		"`cloud` to render the configuration for, or all (repeatable; default: public)")
	flags.StringSliceVar(&f.environments, "environment", nil, "`environment` of the cloud, or all (repeatable)")
	flags.StringSliceVar(&f.regions, "region", nil, "`region` of the environment, or all (repeatable)")
	f.addRest(flags)
}

// given tells whether a place is asked for.
func (f *placesFlags) given() bool {
	return len(f.clouds)+len(f.environments)+len(f.regions) > 0
}

// places are those that are asked for of a configuration. One that is rendered is for a single region.
func (f *placesFlags) places(config string) ([]configuration.Place, error) {
	if config == "" {
		return nil, usage("required flag --config not set: it is what is rendered for a place")
	}
	unrendered, err := configuration.IsUnrendered(config)
	switch {
	case err != nil:
		return nil, usage("--config: %v", err)
	case !unrendered && len(f.regions) == 1 && f.regions[0] != everywhere:
		f.context.Region = f.regions[0]
		return nil, f.isRegionOf(config)
	case !unrendered:
		return nil, usage("--config: %s is rendered already, for one place: --config-cloud, --environment and --region "+
			"are for one that isn't", config)
	}
	if len(f.clouds) == 0 {
		f.clouds = []string{"public"}
	}
	err = required(
		given{Flag{Name: "environment", Example: "int"}, strings.Join(f.environments, ",")},
		given{Flag{Name: "region", Example: "westeurope"}, strings.Join(f.regions, ",")},
	)
	if err != nil {
		return nil, err
	}
	return f.chosen(config)
}

// chosen are the places that the flags name. What is "all" is what the configuration has; the regions that are named
// beside that are for environments without any.
func (f *placesFlags) chosen(config string) ([]configuration.Place, error) {
	if !slices.Contains(slices.Concat(f.clouds, f.environments, f.regions), everywhere) {
		return f.named(f.clouds, f.environments), nil
	}
	all, err := configuration.Places(config, f.overlays...)
	if err != nil {
		return nil, usage("--config: %v", err)
	}
	var places []configuration.Place
	for _, one := range all {
		if !asksFor(f.clouds, one.Cloud) || !asksFor(f.environments, one.Environment) {
			continue
		}
		chosen := []configuration.Place{one}
		if one.Region == "" || !slices.Contains(f.regions, everywhere) {
			chosen = f.named([]string{one.Cloud}, []string{one.Environment})
		}
		if len(chosen) == 0 {
			return nil, usage("--region all: %s has no regions for %s/%s. hint: --region all,westeurope names one for "+
				"environments without any", config, one.Cloud, one.Environment)
		}
		for _, one := range chosen {
			if !slices.Contains(places, one) {
				places = append(places, one)
			}
		}
	}
	if len(places) == 0 {
		return nil, usage("not found: %s has none of these places. It has %s", config, diagnostic.Bounded(joined(all)))
	}
	return places, nil
}

// named are the places of clouds and environments with the regions that are named.
func (f *placesFlags) named(clouds, environments []string) []configuration.Place {
	var all []configuration.Place
	for _, cloud := range clouds {
		for _, environment := range environments {
			for _, region := range f.regions {
				if region != everywhere {
					all = append(all, configuration.Place{Cloud: cloud, Environment: environment, Region: region})
				}
			}
		}
	}
	return all
}

// asksFor tells whether a flag names something, or all.
func asksFor(asked []string, name string) bool {
	return slices.Contains(asked, everywhere) || slices.Contains(asked, name)
}

func joined(places []configuration.Place) string {
	var names []string
	for _, one := range places {
		names = append(names, one.String())
	}
	return strings.Join(names, ", ")
}

// placed are the findings of all places, each once.
type placed struct {
	found diagnostic.List
	in    map[diagnostic.Diagnostic][]string
}

func (p *placed) add(found diagnostic.List, place string) {
	for _, one := range found {
		if p.in == nil {
			p.in = map[diagnostic.Diagnostic][]string{}
		}
		places := p.in[one]
		if places == nil {
			p.found = append(p.found, one)
		}
		if !slices.Contains(places, place) {
			p.in[one] = append(places, place)
		}
	}
}

// sources are the files that a configuration is rendered from.
func (f *placesFlags) sources(config string) []string {
	sources := append([]string{config}, f.overlays...)
	if f.values != "" {
		sources = append(sources, f.values)
	}
	return sources
}

// validateIn validates pipelines in several places, and says what it found.
func (a *app) validateIn(
	ctx context.Context, asked *validateRequest, paths []string, services *topology.Topology, everywhere diagnostic.List,
	places []configuration.Place,
) error {
	if err := asked.places.readValues(); err != nil {
		return err
	}
	asked.sources = asked.places.sources(asked.config)
	count, all, err := a.validatePlaces(ctx, asked, paths, services, places)
	if err != nil {
		return err
	}
	for _, place := range places {
		all.add(everywhere, place.String())
	}
	all.found.Sort()
	if all.found.Errors() > 0 {
		a.exit = exitFailed
	}
	says := verdict(asked, len(paths), count, all.found)
	if len(places) > 1 {
		files, rest, _ := strings.Cut(says, ": ")
		says = fmt.Sprintf("%s in %d places: %s", files, len(places), rest)
	}
	return a.found(ctx, asked, all.listed(len(places)), says)
}

// validatePlaces validates pipelines as they are in each place. Of a place for which the configuration can't be
// rendered it says why.
func (a *app) validatePlaces(
	ctx context.Context, asked *validateRequest, paths []string, services *topology.Topology,
	places []configuration.Place,
) (count int, _ *placed, _ error) {
	all := &placed{}
	for _, place := range places {
		config, found, err := a.renderedFor(asked, place)
		if err != nil {
			return 0, nil, err
		}
		if config != nil {
			checked, err := a.validateEach(ctx, asked, paths, config)
			if err != nil {
				return 0, nil, err
			}
			count = max(count, checked.count)
			found = append(found, checked.found...)
			found = append(found, misnamed(checked.outlines, services)...)
			found = append(found, validateTogether(checked.outlines, services)...)
		}
		all.add(found, place.String())
	}
	return count, all, nil
}

// renderedFor is the configuration of a place, and what is wrong with it; nil where it can't be rendered.
func (a *app) renderedFor(
	r *validateRequest, place configuration.Place,
) (*pipeline.Config, diagnostic.List, error) {
	in := r.places.context
	in.Cloud, in.Environment, in.Region = place.Cloud, place.Environment, place.Region
	rendered, found, err := configuration.Render(in, r.config, r.places.overlays...)
	switch {
	case err != nil:
		return nil, nil, usage("%v", err)
	case rendered == nil:
		return nil, found, nil
	}
	if rendered.Everywhere && !slices.Contains(r.places.regions, everywhere) { // it may be misspelt
		fmt.Fprintf(a.stderr, "%s has nothing of its own for %s.\n", r.config, diagnostic.Printable(place.String()))
	}
	found = append(found, rendered.Warnings...)
	if rendered.Schema != "" && !r.places.skipSchema {
		wrong, err := rendered.Validate(r.config, rendered.Schema)
		if err != nil {
			return nil, nil, usage("%v. hint: --skip-schema-validation", err)
		}
		found = append(found, wrong...)
	}
	text, err := rendered.YAML()
	if err != nil {
		return nil, nil, fmt.Errorf("rendering %s for %s: %w", r.config, place, err)
	}
	config, wrong := pipeline.ParseConfig(r.config, text)
	for i := range wrong {
		wrong[i].Position = diagnostic.Position{File: r.config} // lines are those of what was rendered
	}
	return config, append(found, wrong...), nil
}

// listed are the findings with the places in which they show, where these are not all.
func (p *placed) listed(places int) []diagnostic.Placed {
	all := make([]diagnostic.Placed, 0, len(p.found))
	for _, one := range p.found {
		in := p.in[one]
		if len(in) == places {
			in = nil
		}
		all = append(all, diagnostic.Placed{Diagnostic: one, Places: in})
	}
	return all
}

// worded are findings as lines have them.
func worded(found []diagnostic.Placed) diagnostic.List {
	const shown = 4
	list := make(diagnostic.List, 0, len(found))
	for _, one := range found {
		if in := one.Places; len(in) > 0 {
			if more := len(in) - shown; more > 1 {
				in = append(in[:shown:shown], fmt.Sprintf("%d more places", more))
			}
			one.Message += " (in " + strings.Join(in, ", ") + ")"
		}
		list = append(list, one.Diagnostic)
	}
	return list
}

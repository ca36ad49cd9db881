package cli

import (
	"path/filepath"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/configuration"
	"salve/internal/pipeline/rollout"
)

// forConfig is the place for which a configuration has to be rendered; nil where it is rendered already.
func (f *contextFlags) forConfig(path string) (*rollout.Place, error) {
	if path == "" {
		return nil, nil
	}
	unrendered, err := configuration.IsUnrendered(path)
	switch {
	case err != nil:
		return nil, usage("--config: %v", err)
	case !unrendered:
		return nil, nil
	}
	place, err := f.recorded()
	if err != nil {
		return nil, err
	}
	return &place, f.complete()
}

// isRegionOf refuses a configuration that was rendered for another region than is asked for.
func (f *contextFlags) isRegionOf(path string) error {
	asked := f.context.Region
	if asked == "" || path == "" {
		return nil
	}
	values, err := configuration.ReadValues(path)
	if err != nil {
		return usage("--config: %v", err)
	}
	if region, ok := values["region"].(string); ok && region != asked {
		return usage("conflict: --region %s, and %s is rendered for region %s", asked, path, region)
	}
	return nil
}

// recorded is the place as a record keeps it.
func (f *contextFlags) recorded() (rollout.Place, error) {
	place := rollout.Place{
		Cloud: f.context.Cloud, Environment: f.context.Environment, Region: f.context.Region,
		RegionShort: f.context.RegionShort, Stamp: f.context.Stamp, SkipSchema: f.skipSchema,
	}
	var err error
	if place.Values, err = absolute(f.values); err != nil {
		return place, err
	}
	for _, overlay := range f.overlays {
		whole, err := filepath.Abs(overlay)
		if err != nil {
			return place, err
		}
		place.Overlays = append(place.Overlays, whole)
	}
	return place, nil
}

// contextOf are the flags that a recorded place stands for.
func contextOf(place rollout.Place) *contextFlags {
	return &contextFlags{
		context: configuration.Context{Cloud: place.Cloud, Environment: place.Environment, Region: place.Region,
			RegionShort: place.RegionShort, Stamp: place.Stamp},
		values: place.Values, overlays: place.Overlays, skipSchema: place.SkipSchema,
	}
}

// configOf reads the configuration of a run, rendered for its place where it has one. It is nil, and what is wrong has
// been said, where it can't be rendered.
func (a *app) configOf(path string, place *rollout.Place) (*pipeline.Config, diagnostic.List, error) {
	if place == nil {
		return readConfig(path)
	}
	flags := contextOf(*place)
	if err := flags.complete(); err != nil {
		return nil, nil, err
	}
	rendered, err := a.rendered(flags, path)
	if err != nil || rendered == nil {
		return nil, nil, err
	}
	text, err := rendered.YAML()
	if err != nil {
		return nil, nil, err
	}
	config, found := pipeline.ParseConfig(path, text)
	return config, found, nil
}

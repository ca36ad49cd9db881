package cli

import "regexp"

// regionName is what Azure calls a region, as its name or as people see it: westeurope, West Europe.
var regionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ]{0,63}$`)

// region is where resource groups are created that are missing: what --region says, or else the configuration, which is
// rendered for one region. Empty when neither does.
func (j *pipelineRun) region() string {
	if j.plan.Inputs.Region != "" {
		return j.plan.Inputs.Region
	}
	value, _ := j.plan.File.Config().Value("region")
	if region, _ := value.(string); regionName.MatchString(region) {
		return region
	}
	return ""
}

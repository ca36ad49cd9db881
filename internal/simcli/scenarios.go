package simcli

import (
	"github.com/spf13/cobra"

	"salve/cli"
	"salve/internal/azuresim"
	"salve/internal/report"
)

// listed is a scenario in a list.
type listed struct {
	Name   string `json:"name"`
	Expect string `json:"expect"`
	Shows  string `json:"shows"`
}

// scenariosDocument is the scenarios of salve rehearse --list.
type scenariosDocument struct {
	report.Document
	Scenarios []listed `json:"scenarios"`
}

func listScenarios(output cli.Output) error {
	scenarios := []listed{}
	for _, name := range azuresim.Names() {
		scenario, err := azuresim.Load(name)
		if err != nil {
			return err
		}
		scenarios = append(scenarios, listed{scenario.Name, scenario.Expect, scenario.Shows})
	}
	if output.JSON {
		return output.Document(scenariosDocument{report.NewDocument("scenarios"), scenarios})
	}
	var rows [][]string
	for _, scenario := range scenarios {
		rows = append(rows, []string{scenario.Name, scenario.Expect, scenario.Shows})
	}
	return report.Table(output.Answer, output.Width, []string{"SCENARIO", "ENDS", "SHOWS"}, rows)
}

// scenarioNames completes the name of a scenario, or a file.
func scenarioNames(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return azuresim.Names(), cobra.ShellCompDirectiveDefault
}

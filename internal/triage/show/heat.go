package show

import (
	"fmt"
	"math"
	"strconv"

	"salve/internal/triage"
)

// heatView is failure rates by the attributes' values and by group.
type heatView struct {
	Columns []heatColumn // of groups, if there are several
	Tables  []heatTable
	Legend  []legendStep
}

type heatColumn struct {
	Number int
	Title  string
	Color  string
}

// heatTable is all attributes, or where there are few columns one of them: several tables then stand side by side.
type heatTable struct {
	Name   string // the attribute, if it is only one
	Blocks []heatBlock
}

// narrow is up to how many columns of groups there is a table for each attribute.
const narrow = 3

// heatBlock is an attribute with its values.
type heatBlock struct {
	Attribute string
	Rows      []heatRow
}

type heatRow struct {
	Value string
	Of    int
	Cells []heatCell // all failures first, then by group
}

type heatCell struct {
	Class string // of its colour; empty without failures
	Rate  string
	Count string
}

// legendStep is one colour with what it stands for.
type legendStep struct{ Class, Text string }

// heatSteps are the rates up to which colours go, in hundredths.
func heatSteps() []float64 { return []float64{5, 15, 30, 60, 85, 100} }

func newHeat(doc triage.Document) heatView {
	var view heatView
	if len(doc.Heat) == 0 {
		return view
	}
	groups := doc.Groups
	if len(groups) == 1 {
		groups = nil // all failures are its
	}
	for i, g := range groups {
		view.Columns = append(view.Columns, heatColumn{Number: i + 1, Title: title(g), Color: groupColor(i)})
	}
	var blocks []heatBlock
	for _, h := range doc.Heat {
		last := len(blocks) - 1
		if last < 0 || blocks[last].Attribute != h.Attribute {
			blocks = append(blocks, heatBlock{Attribute: h.Attribute})
			last++
		}
		blocks[last].Rows = append(blocks[last].Rows, newHeatRow(h, len(groups)))
	}
	view.Tables = []heatTable{{Blocks: blocks}}
	if len(groups) <= narrow {
		view.Tables = nil
		for i, block := range blocks {
			view.Tables = append(view.Tables, heatTable{Name: block.Attribute, Blocks: blocks[i : i+1]})
		}
	}
	from := 0.0
	for i, to := range heatSteps() {
		view.Legend = append(view.Legend, legendStep{fmt.Sprintf("h%d", i+1), fmt.Sprintf("%g–%g %%", from, to)})
		from = to
	}
	return view
}

// newHeatRow has the rates of a value. A group's rate leaves the other groups' failures out, as the cause's 2×2 does.
func newHeatRow(h triage.Heat, groups int) heatRow {
	row := heatRow{Value: h.Value, Of: h.Passed + h.Failed, Cells: []heatCell{newHeatCell(h.Failed, h.Passed)}}
	if row.Value == "" {
		row.Value = "unknown"
	}
	for i := range groups {
		failed := 0
		if i < len(h.ByGroup) {
			failed = h.ByGroup[i]
		}
		row.Cells = append(row.Cells, newHeatCell(failed, h.Passed))
	}
	return row
}

func newHeatCell(failed, passed int) heatCell {
	if failed <= 0 {
		return heatCell{Rate: "0"}
	}
	rate := 100 * share(failed, failed+passed)
	cell := heatCell{
		Rate:  strconv.Itoa(int(math.Round(rate))) + " %",
		Count: fmt.Sprintf("%d/%d", failed, failed+passed),
	}
	for i, to := range heatSteps() {
		if rate <= to {
			cell.Class = fmt.Sprintf("h%d", i+1)
			break
		}
	}
	return cell
}

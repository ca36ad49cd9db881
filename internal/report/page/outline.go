package page

import (
	"strconv"
	"strings"

	"salve/internal/report/picture"
)

// point is a place in a drawing.
type point struct{ x, y float64 }

// path joins points by lines.
func path(points ...point) string {
	var out strings.Builder
	for i, p := range points {
		step := "L"
		if i == 0 {
			step = "M"
		}
		out.WriteString(step + number(p.x) + " " + number(p.y))
	}
	return out.String()
}

func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// outline is a mark's shape around its middle; a circle has none.
func outline(m picture.Mark) string {
	at := func(dx, dy float64) point { return point{m.X + dx, m.Y + dy} }
	switch m.Shape {
	case picture.Refused:
		return path(at(-4, -4), at(4, 4)) + path(at(-4, 4), at(4, -4))
	case picture.Raised:
		return path(at(0, -5), at(5.5, 4.5), at(-5.5, 4.5)) + "Z"
	case picture.Cleared:
		return path(at(0, 5), at(5.5, -4.5), at(-5.5, -4.5)) + "Z"
	case picture.Judged:
		return path(at(0, -6), at(6, 0), at(0, 6), at(-6, 0)) + "Z"
	case picture.Blind, picture.Unanswered:
		return path(at(-4, -4), at(4, -4), at(4, 4), at(-4, 4)) + "Z"
	default:
		return ""
	}
}

// wave is the torn edge of a break.
func wave(x, top, bottom float64) string {
	const side, high = 3.0, 4.0
	points := []point{{x, top}}
	for i := 1; points[len(points)-1].y < bottom; i++ {
		points = append(points, point{x + side*float64(i%2), min(top+high*float64(i), bottom)})
	}
	return path(points...)
}

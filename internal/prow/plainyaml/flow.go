package plainyaml

import "go.yaml.in/yaml/v3"

// flow reads a list in brackets or a mapping in braces, on one line.
func (p *parser) flow() *yaml.Node {
	if p.depth++; p.depth > maximumDepth {
		return p.refuse()
	}
	defer func() { p.depth-- }()
	kind, last := yaml.SequenceNode, byte(']')
	if p.text[p.at] == '{' {
		kind, last = yaml.MappingNode, '}'
	}
	node, since := p.node(kind, p.at-p.start), p.nodes.mark()
	node.Style = yaml.FlowStyle
	p.at++
	if p.spaces(); p.at < p.end && p.text[p.at] == last {
		p.at++
		return node
	}
	for !p.refused {
		if kind == yaml.MappingNode {
			key := p.flowKey()
			p.nodes.open(key)
		}
		value := p.flowValue()
		p.nodes.open(value)
		if p.spaces(); p.at == p.end {
			break
		}
		c := p.text[p.at]
		p.at++
		switch c {
		case last:
			return p.nodes.close(node, since)
		case ',':
			p.spaces()
		default:
			return p.refuse()
		}
	}
	return p.refuse()
}

func (p *parser) flowKey() *yaml.Node {
	if p.at == p.end {
		return p.refuse()
	}
	began := p.at
	key := p.scalar(true)
	p.spaces()
	if p.refused || !p.is(':') || p.at-began > maximumKey {
		return p.refuse()
	}
	p.at++
	p.spaces()
	return key
}

func (p *parser) flowValue() *yaml.Node {
	switch {
	case p.refused || p.at == p.end:
		return p.refuse()
	case p.text[p.at] == '[' || p.text[p.at] == '{':
		return p.flow()
	}
	return p.scalar(true)
}

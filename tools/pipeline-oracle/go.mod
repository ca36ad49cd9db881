module salve/tools/pipeline-oracle

go 1.26.0

require salve v0.0.0

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

replace salve => ../..

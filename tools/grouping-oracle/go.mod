module salve/tools/grouping-oracle

go 1.26.0

require salve v0.0.0

require (
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/jaeyo/go-drain3 v0.1.2
)

replace salve => ../..

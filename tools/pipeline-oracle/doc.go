// Package pipelineoracle holds Salve's reading of pipelines and topologies against what the users' own tool made of the
// same files: make oracle-pipelines ARO_TOOLS=FOLDER. It is a module of its own, and no part of make test.
//
// The Go module of that tool, github.com/Azure/ARO-Tools, is not to be had: the module proxy answers 403 for it, by
// whichever version it is asked. So FOLDER is a checkout, and what is compared is what stands recorded there: the
// graphs in pipelines/graph/testdata/*.dot, which its tests TestForPipeline and TestForEntrypoint hold, of the pipelines
// and topologies in pipelines/graph/testdata/input.
package pipelineoracle

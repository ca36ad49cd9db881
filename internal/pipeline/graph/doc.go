// Package graph is what a pipeline's steps wait for: cycles in it, its critical
// path, and pictures of it as text, DOT, Mermaid and SVG.
//
// It knows nothing of pipelines: nodes have names, and edges say what must be done
// before what. It never changes a graph once that is made.
package graph

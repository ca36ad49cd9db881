// Package browser looks at the pages that Salve writes with a real browser, headless Chromium: that they load nothing,
// that the browser complains of nothing, that they fit a telephone and a screen, and that they can be printed. It is a
// module of its own, for nothing of what drives a browser is to be in Salve's.
//
// Debian has the browser as chromium; without one the tests are skipped. SALVE_SCREENSHOTS names a folder in which
// they leave pictures, for somebody to look at.
package browser

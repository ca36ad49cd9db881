// Package deployment reads what an ARM step deploys: its template and its
// parameters, JSON or Bicep, with the configuration's values filled in and the
// step's variables set.
//
// It never reaches Azure, never sets a parameter that the template does not
// declare, and never prints a value.
package deployment

// Package kernel is k(x, z): how alike two entities are by their side
// information.
package kernel

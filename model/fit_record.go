package model

import "github.com/kernel-fried-tensor/kft/fitrecord"

// The record of a fit and its parts.
type (
	Record           = fitrecord.Record
	Choice           = fitrecord.Choice
	Decision         = fitrecord.Decision
	Candidate        = fitrecord.Candidate
	PowerEstimate    = fitrecord.PowerEstimate
	PowerScore       = fitrecord.PowerScore
	OrderChoice      = fitrecord.OrderChoice
	SideReport       = fitrecord.SideReport
	Curve            = fitrecord.Curve
	Learned          = fitrecord.Learned
	Refit            = fitrecord.Refit
	BaselineScores   = fitrecord.BaselineScores
	Median           = fitrecord.Median
	TermContribution = fitrecord.TermContribution
)

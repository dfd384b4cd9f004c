package train

import (
	"context"

	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// Read reads and splits a table. The zero source means the files of the
// specification.
func Read(ctx context.Context, s spec.Spec, source tableio.Source, opt Options) (*fitdata.Data, error) {
	return readTogether(ctx, s, source, opt, false)
}

// readTogether is Read, after which each rank may have a share of the table alone.
func readTogether(ctx context.Context, s spec.Spec, source tableio.Source, opt Options, share bool) (*fitdata.Data, error) {
	if opt.Progress != nil {
		opt.Progress(Event{Stage: "read"})
	}
	data, err := fitdata.Read(ctx, s, source, fitdata.Options{Threads: opt.Threads, Tables: opt.Tables, Stdin: opt.Stdin,
		Ranks: collective.Backend(opt.Ranks), Share: share && opt.Memory == 0 && plainTerms(&s)})
	if err := opt.agreeRead(data, err); err != nil {
		return nil, err
	}
	return data, nil
}

// periods names the time ranges of the parts of a split by time; nil for other
// splits.
func periods(s *split.Split) map[string]string {
	if s.Periods == nil {
		return nil
	}
	named := map[string]string{}
	for part, text := range s.Periods {
		named[part.String()] = text
	}
	return named
}

package cpu

import "golang.org/x/sys/cpu"

func nativePaths() []Path {
	var paths []Path
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA
	if avx2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ {
		paths = append(paths, AVX512)
	}
	if avx2 {
		paths = append(paths, AVX2)
	}
	return paths
}

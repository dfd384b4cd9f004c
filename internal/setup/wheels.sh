#!/bin/sh
# Builds a wheel for each platform from the programs in dist, and tests the one for this
# machine in a clean virtual environment. The programs are static, so a wheel for Linux
# serves glibc and musl. An argument such as linux-amd64 limits the work to one platform.
set -eu
cd "$(dirname "$0")/../.."
python=$(sh internal/setup/python.sh package)
out=$PWD/dist/wheels
rm -rf "$out"
cp LICENSE dist/NOTICES python/
trap 'rm -f python/LICENSE python/NOTICES' EXIT
for platform in \
	linux-amd64=manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_2_x86_64 \
	linux-arm64=manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_2_aarch64 \
	darwin-amd64=macosx_12_0_x86_64 darwin-arm64=macosx_12_0_arm64 \
	windows-amd64.exe=win_amd64 windows-arm64.exe=win_arm64; do
	case ${platform%%=*} in "${1:-}"*) ;; *) continue ;; esac
	(cd python && KFT_WHEEL_BINARY="$PWD/../dist/kft-${platform%%=*}" KFT_WHEEL_TAG="${platform#*=}" \
		"$python" -m hatchling build -t wheel -d "$out")
done
sh internal/setup/wheel_test.sh "$out"

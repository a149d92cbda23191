#!/bin/sh
# The image of deploy/Containerfile, on a base of Debian's packages and this Python (tests/image_base.sh), or on $base.
# As root on Debian what this takes is installed; elsewhere it says what is missing.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

missing() {
	for program in buildah runc mmdebstrap strip; do
		has "$program" || { [ "$program" = strip ] && echo binutils || echo "$program"; }
	done
}

packages=$(missing)
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && has apt-get; then
	echo "Installing for the image:" $packages
	apt-get update -qq
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $packages >/dev/null
	packages=$(missing)
fi
if [ -n "$packages" ] || [ "$(id -u)" != 0 ]; then
	echo "NOT TESTED. The image is built and started as root, on Debian, with buildah, runc, mmdebstrap and binutils." >&2
	[ -z "$packages" ] || echo "Not here:" $packages >&2
	exit 1
fi

if [ -z "${base:-}" ]; then
	base=openbook-base
	folder=$(mktemp -d /var/tmp/openbook-base.XXXXXX)
	trap 'rm -rf "$folder"' EXIT
	sh tests/image_base.sh "$folder/root" .venv/bin/python
	container=$(buildah from scratch)
	buildah add --quiet "$container" "$folder/root" / >/dev/null
	buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
	buildah commit --quiet --rm "$container" "$base" >/dev/null
fi
# The build trusts whom this machine trusts.
make --no-print-directory image base="$base" \
	options="--quiet --isolation chroot --volume /etc/ssl/certs:/etc/ssl/certs:ro ${options:-}"

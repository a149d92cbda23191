#!/bin/sh
# A base for deploy/Containerfile where no image can be fetched: a root file system of Debian's packages, and the
# Python that is given, in /usr/local as the official image has it.
#     sh tests/image_base.sh FOLDER PYTHON
set -eu

folder=$1 python=$2
mmdebstrap --quiet --mode=root --variant=minbase \
	--include=ca-certificates,tzdata,libbz2-1.0,libffi8,liblzma5,libncursesw6,libreadline8 \
	--include=libsqlite3-0,libssl3,libuuid1,zlib1g \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
	"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$folder"

prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
to=$folder/usr/local
mkdir -p "$to/bin" "$to/lib"
cp "$prefix/bin/python$version" "$to/bin/"
ln -s "python$version" "$to/bin/python3"
ln -s "python$version" "$to/bin/python"
cp -P "$prefix/lib/"libpython3.so* "$prefix/lib/libpython$version".so* "$to/lib/" 2>/dev/null || true
(cd "$prefix/lib" && tar --create --exclude=__pycache__ --exclude=site-packages/* --exclude="python$version/test" \
	--exclude="python$version/config-*" --exclude=idlelib --exclude=tkinter --exclude=turtledemo "python$version") |
	tar --extract --directory "$to/lib"
mkdir -p "$to/lib/python$version/site-packages"
# As in the official image, without what only debuggers read.
find "$to" -name '*.so*' -type f -exec strip --strip-unneeded {} +
chroot "$folder" ldconfig

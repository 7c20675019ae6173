#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
# Installs gst-spatial from its tarball.
#   ./install.sh [--prefix /usr/local]               installs
#   ./install.sh [--prefix /usr/local] --uninstall   removes everything it installed
set -eu
cd "$(dirname "$0")"
prefix=/usr/local
remove=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder}; shift 2 ;;
    --prefix=*) prefix=${1#--prefix=}; shift ;;
    --uninstall) remove=yes; shift ;;
    -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown option '$1'; see --help" >&2; exit 64 ;;
  esac
done
files=$(find bin lib share -type f | sort)
if [ -n "$remove" ]; then
  for file in $files; do rm -f "$prefix/$file"; done
  for folder in share/gst-spatial/pipelines/parts share/gst-spatial/pipelines share/gst-spatial \
    lib/gst-spatial; do
    rmdir "$prefix/$folder" 2>/dev/null || :
  done
  echo "gst-spatial has been removed from $prefix"
  exit 0
fi
missing=$(LC_ALL=C ldd bin/gst-spatial lib/gstreamer-1.0/libgstspatial.so 2>&1 |
  grep -E 'not found' | sed 's/^[[:space:]]*//' | sort -u || :)
if [ -n "$missing" ]; then
  echo "install.sh: these libraries are missing:" >&2
  echo "$missing" | sed 's/^/  /' >&2
  echo "GStreamer 1.22 or newer with its base plugins, libyaml, libcrypto 3 (OpenSSL), and glibc 2.36 or newer are needed." >&2
  exit 1
fi
for file in $files; do
  mkdir -p "$prefix/$(dirname "$file")"
  # Written under another name, then renamed: a running program keeps the old file.
  case $file in
    *.service) sed "s,@PREFIX@,$prefix," "$file" >"$prefix/$file.new" ;;
    *) cp "$file" "$prefix/$file.new" ;;
  esac
  mv -f "$prefix/$file.new" "$prefix/$file"
done
echo "gst-spatial is in $prefix/bin; for gst-launch-1.0 and other programs:"
echo "  export GST_PLUGIN_PATH=$prefix/lib/gstreamer-1.0 GST_PRESET_PATH=$prefix/share/gstreamer-1.0/presets"
echo "  export GST_ENCODING_TARGET_PATH=$prefix/share/gstreamer-1.0/encoding-profiles"

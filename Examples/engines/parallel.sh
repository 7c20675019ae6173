#!/bin/bash
# parallel.sh INPUT OUTPUT WORK JOBS [name=value ...]: converts a movie in parts with GNU parallel.
# With -S host1,host2 --workdir . it uses other machines that see the same folders.
set -e
parts=$(gst-spatial plan "$1" "$2" --work "$3" "${@:5}")
seq 0 $((parts - 1)) | parallel -j "$4" --retries 3 --halt soon,fail=1 gst-spatial part "$3"
gst-spatial join "$3"

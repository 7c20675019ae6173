#!/bin/bash
# parallel.sh INPUT OUTPUT WORK JOBS [option or name=value ...]: converts a movie in parts with GNU
# parallel. With -S host1,host2 --workdir . it uses other machines that see the same folders.
set -e
work=$3 jobs=$4
parts=$(gst-spatial plan "$1" "$2" --work "$work" "${@:5}")
each_part() {
  seq 0 $((parts - 1)) | parallel -j "$jobs" --retries 3 --halt soon,fail=1 gst-spatial part "$work" {} "$@"
}
case " $* " in *" --two-pass "*) each_part --measure ;; esac
each_part
gst-spatial join "$work"

#!/bin/bash
# slurm.sh INPUT OUTPUT WORK [option or name=value ...]: converts a movie in parts with Slurm. With
# --two-pass bitrate=N, an array measures all parts before another one encodes them.
set -e
here=$(dirname "$0")
parts=$(gst-spatial plan "$1" "$2" --work "$3" "${@:4}")
# Without --kill-on-invalid-dep, what comes after an array that failed waits for ever.
submit=(sbatch --parsable --kill-on-invalid-dep=yes)
tasks=(--array=0-$((parts - 1)))
case " $* " in *" --two-pass "*)
  first=$("${submit[@]}" "${tasks[@]}" "$here/part.sbatch" "$3" --measure)
  tasks+=(--dependency="afterok:$first") ;;
esac
array=$("${submit[@]}" "${tasks[@]}" "$here/part.sbatch" "$3")
"${submit[@]}" --job-name=spatial-join --open-mode=append --output=%x-%j.log \
  --dependency="afterok:$array" --wrap "gst-spatial join '$3'"

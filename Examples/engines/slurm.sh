#!/bin/bash
# slurm.sh INPUT OUTPUT WORK [name=value ...]: converts a movie in parts with Slurm.
set -e
here=$(dirname "$0")
parts=$(gst-spatial plan "$1" "$2" --work "$3" "${@:4}")
array=$(sbatch --parsable --array=0-$((parts - 1)) "$here/part.sbatch" "$3")
# Without --kill-on-invalid-dep, the join of an array that failed waits for ever.
sbatch --parsable --job-name=spatial-join --open-mode=append --output=%x-%j.log \
  --dependency="afterok:$array" --kill-on-invalid-dep=yes --wrap "gst-spatial join '$3'"

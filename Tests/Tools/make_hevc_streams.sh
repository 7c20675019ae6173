#!/bin/bash
# SPDX-License-Identifier: MPL-2.0
# Makes the streams of Tests/HEVCTests/Streams with the libx265 of ffmpeg (made with ffmpeg 5.1 and
# libx265 3.5). They are committed, so that tests need neither.
#
#     make_hevc_streams.sh FOLDER
set -e
folder=$1
mkdir -p "$folder"

encode() { # name, size, frames, pixel format, filter, x265 parameters
  ffmpeg -v error -y -f lavfi -i "testsrc2=size=$2:rate=25" -frames:v "$3" \
    -vf "$5format=$4" -c:v libx265 \
    -x265-params "log-level=none:pools=1:frame-threads=1:info=0:repeat-headers=1:$6" \
    -f hevc "$folder/$1.hevc"
}

pair() { # the same, for two eyes that see the scene eight samples apart
  local width=${2%x*} height=${2#*x}
  local size=$((width + 8))x$height
  encode "$1-left" "$size" "$3" "$4" "crop=iw-8:ih:0:0,$5" "b-adapt=0:scenecut=0:$6"
  encode "$1-right" "$size" "$3" "$4" "crop=iw-8:ih:8:0,$5" "b-adapt=0:scenecut=0:$6"
}

hdr="master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"
pair main8 96x64 12 yuv420p "" "bframes=3:keyint=6:min-keyint=6:open-gop=0:crf=28:aud=1"
pair main10 80x48 10 yuv420p10le "" \
  "bframes=2:keyint=5:open-gop=1:crf=28:$hdr:max-cll=1000,400:hash=1"
pair slices 160x96 6 yuv420p "" \
  "ctu=16:max-tu-size=16:slices=3:bframes=0:keyint=6:crf=32:hrd=1:vbv-maxrate=400:vbv-bufsize=400"
pair weightp 64x48 10 yuv420p "fade=t=in:s=0:n=8," \
  "weightb=1:bframes=2:keyint=10:crf=28:scaling-list=default:temporal-layers=1"
pair references 64x48 24 yuv420p "" "bframes=0:ref=8:keyint=12:min-keyint=12:open-gop=0:crf=40"
encode plain 64x48 1 yuv420p "" crf=40
encode poclsb 64x48 1 yuv420p "" crf=40:log2-max-poc-lsb=6
encode sublayers 64x48 1 yuv420p "" crf=40:temporal-layers=1
encode chroma422 64x48 1 yuv422p "" crf=40
encode window 64x48 1 yuv420p "crop=60:48," crf=40
encode pair 64x48 2 yuv420p "" crf=40:bframes=0

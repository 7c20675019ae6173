# SPDX-License-Identifier: MPL-2.0
"""Copies a movie into fragments with FFmpeg's muxer.

    fragment.py MOVIE FRAGMENTED [FLAGS]

FLAGS are more flags of the muxer, each after a plus sign.
"""
import sys

import av

source = av.open(sys.argv[1])
target = av.open(
    sys.argv[2], "w",
    options={"movflags": "".join(["frag_keyframe+empty_moov+default_base_moof"] + sys.argv[3:])})
streams = {}
for stream in source.streams:
    copy = target.add_stream_from_template(stream)
    if stream.type == "video":
        # FFmpeg writes lhvC only for streams that say that they have several layers.
        copy.codec_context.codec_tag = "hvc1"
        copy.disposition = stream.disposition
    streams[stream.index] = copy
for packet in source.demux():
    if packet.dts is None:
        continue
    packet.stream = streams[packet.stream.index]
    target.mux(packet)
target.close()

# SPDX-License-Identifier: MPL-2.0
"""Writes a movie of sound with FFmpeg for each codec, number of channels and container.

make_audio_movies.py FOLDER CODEC-CHANNELS.CONTAINER...
"""

import sys

import av
import numpy

folder = sys.argv[1]
for name in sys.argv[2:]:
    codec, rest = name.rsplit("-", 1)
    channels, container = rest.split(".")
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[int(channels)]
    with av.open(f"{folder}/{name}", "w", options={"strict": "experimental"}) as movie:
        stream = movie.add_stream(codec, rate=48000, layout=layout)
        stream.codec_context.open()
        size = stream.codec_context.frame_size or 1024
        numbers = numpy.random.default_rng(1)
        for n in range(20):
            frame = av.AudioFrame(stream.codec_context.format.name, layout, size)
            for plane in frame.planes:
                # Quiet noise, whatever the format: floating point has no such bytes.
                kind = {"flt": "<f4", "fltp": "<f4", "dbl": "<f8", "dblp": "<f8"}.get(frame.format.name)
                if kind:
                    data = numbers.uniform(-0.1, 0.1, plane.buffer_size // int(kind[2])).astype(kind)
                else:
                    data = numbers.integers(0, 8, plane.buffer_size).astype("u1")
                plane.update(data.tobytes())
            frame.sample_rate = 48000
            frame.pts = n * size
            movie.mux(stream.encode(frame))
        movie.mux(stream.encode(None))

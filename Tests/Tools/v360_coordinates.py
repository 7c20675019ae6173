# SPDX-License-Identifier: MPL-2.0
"""Where FFmpeg's v360 takes each pixel from, as a ramp of columns and one of rows shows.

Usage: v360_coordinates.py WIDTH HEIGHT OUTPUT_WIDTH OUTPUT_HEIGHT FILTER_ARGUMENTS...

Writes for each filter's arguments two planes of little-endian floats, x and y, to standard output."""
import sys
from fractions import Fraction

import av
import numpy as np


def picture(values, width, height, out_width, out_height, arguments):
    graph = av.filter.Graph()
    source = graph.add_buffer(width=width, height=height, format="gray16le", time_base="1/25")
    view = graph.add("v360", f"{arguments}:w={out_width}:h={out_height}:interp=line")
    sink = graph.add("buffersink")
    source.link_to(view)
    view.link_to(sink)
    graph.configure()
    frame = av.VideoFrame.from_ndarray(values, format="gray16le")
    frame.pts, frame.time_base = 0, Fraction(1, 25)
    graph.push(frame)
    return graph.pull().to_ndarray().astype(float)


width, height, out_width, out_height = map(int, sys.argv[1:5])
step_x, step_y = 65535 // width, 65535 // height
columns = np.tile((np.arange(width) * step_x)[None, :], (height, 1)).astype("<u2")
rows = np.tile((np.arange(height) * step_y)[:, None], (1, width)).astype("<u2")
for arguments in sys.argv[5:]:
    size = (width, height, out_width, out_height, arguments)
    for ramp, step in ((columns, step_x), (rows, step_y)):
        sys.stdout.buffer.write((picture(ramp, *size) / step).astype("<f4").tobytes())

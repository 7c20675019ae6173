#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Decodes flattened H.264 MVC and compares every picture of both views with golden.json.

  golden_views.py GOLDEN THREADS FILE ...

FILE is a byte stream with the name of a stream in GOLDEN. Prints for each file its name, the pictures in
their place of the base and of the dependent view, and "exact" or "DIFFERENT": exact are all pictures of
both views in the order L R L R, and no others."""
import hashlib
import json
import os
import pathlib
import sys

import av


def digests(path, threads, width, height):
    """The MD5 of each picture, I420, in the order of output."""
    with av.open(path, format="h264") as container:
        stream = container.streams.video[0]
        stream.thread_type = "FRAME" if threads > 1 else "NONE"
        stream.codec_context.thread_count = threads
        for frame in container.decode(stream):
            digest = hashlib.md5()
            for index, plane in enumerate(frame.planes):
                columns, rows = (width, height) if index == 0 else ((width + 1) // 2, (height + 1) // 2)
                data = memoryview(plane)
                for row in range(rows):
                    start = row * plane.line_size
                    digest.update(data[start:start + columns])
            yield digest.hexdigest()


golden = json.loads(pathlib.Path(sys.argv[1]).read_text())
for path in sys.argv[3:]:
    name = os.path.basename(path)
    facts = golden[name]
    found = list(digests(path, int(sys.argv[2]), facts["width"], facts["height"]))
    wanted = [digest for pair in zip(*facts["views"]) for digest in pair]
    right = [sum(a == b for a, b in zip(found[view::2], wanted[view::2])) for view in (0, 1)]
    print(name, *right, "exact" if found == wanted else "DIFFERENT")

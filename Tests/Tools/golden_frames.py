#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Compares decoded frames with golden.json: golden_frames.py GOLDEN FOLDER

FOLDER holds a file NAME.EYE.yuv for each eye of each movie: frames one after the other, I420 with the
rows and planes that GStreamer's default layout gives them."""
import hashlib
import json
import pathlib
import sys


def rounded(number, to):
    return -(-number // to) * to


def digests(data, width, height):
    """The MD5 of the visible area of each frame."""
    chroma = ((width + 1) // 2, (height + 1) // 2)
    # Width, height, stride and rows of each plane.
    planes = [(width, height, rounded(width, 4), rounded(height, 2))]
    planes += 2 * [(*chroma, rounded(chroma[0], 4), chroma[1])]
    at = 0
    while at < len(data):
        digest = hashlib.md5()
        for columns, lines, stride, rows in planes:
            for line in range(lines):
                digest.update(data[at + line * stride:at + line * stride + columns])
            at += stride * rows
        yield digest.hexdigest()


def main():
    golden = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    different = 0
    for name, facts in golden.items():
        if name.endswith(".hevc"):
            continue
        for eye, wanted in facts["frame_md5_i420_presentation_order"].items():
            data = (folder / f"{name}.{eye}.yuv").read_bytes()
            found = list(digests(data, facts["width"], facts["height"]))
            different += found != wanted
            print(f"{name}, {eye} eye: {len(found)} frames, {'exact' if found == wanted else 'DIFFERENT'}")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()

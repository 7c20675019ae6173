#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Decodes a stream or movie with PyAV and prints one line per frame: view, MD5, pts.

The MD5 is that of the visible planes of the frame as I420 (or I420_10LE and the like, little
endian), in output order. `view` is the view id of a layered stream, `-` of a plain one.

    decode_views.py FILE             all views of a layered file
    decode_views.py --write FOLDER FILE
                                     also writes the planes of each view, to FOLDER/VIEW.yuv
    decode_views.py --single FILE    the base layer only, as a decoder for one layer sees it
    decode_views.py --strict FILE    fails where the decoder finds an error
    decode_views.py --key KEY FILE   decrypts an encrypted file; the key in hexadecimal digits

With several files, a line `= FILE` precedes each one's frames.
"""
import argparse
import hashlib
import sys

import av
import av.logging
from av.sidedata.sidedata import Type

# AV_FRAME_DATA_VIEW_ID: PyAV 18 has no name for it and refuses side data without a name.
VIEW_ID = 29


def unnamed(cls, value):
    member = object.__new__(cls)
    member._name_, member._value_ = f"UNNAMED_{value}", value
    return member


Type._missing_ = classmethod(unnamed)


def planes(frame):
    """The visible bytes of the planes of a planar frame."""
    parts = []
    for plane in frame.planes:
        sample = 2 if "10" in frame.format.name or "12" in frame.format.name else 1
        row = plane.width * sample
        data = memoryview(plane)
        for y in range(plane.height):
            parts.append(bytes(data[y * plane.line_size : y * plane.line_size + row]))
    return b"".join(parts)


def view_id(frame):
    # By number: a loop gives the data with PyAV 18, and their types with PyAV 19.
    for number in range(len(frame.side_data)):
        side = frame.side_data[number]
        if side.type.value == VIEW_ID:
            return str(int.from_bytes(bytes(side)[:4], sys.byteorder, signed=True))
    return "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="file")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--write", metavar="folder")
    parser.add_argument("--key")
    parser.add_argument("--format", help="demuxer name, such as hevc")
    arguments = parser.parse_args()
    av.logging.set_level(av.logging.WARNING)
    for file in arguments.files:
        if len(arguments.files) > 1:
            print("=", file)
        with av.logging.Capture() as said:
            decode(file, arguments)
        # "Unknown profile bitstream" is a warning that bare streams of 10 bits get.
        if arguments.strict and any(level <= av.logging.ERROR for level, _, _ in said):
            sys.exit(f"{file}: {said}")
        for level, name, message in said:
            print(f"{name}: {message}", file=sys.stderr, end="")


def decode(file, arguments):
    keys = {"decryption_key": arguments.key} if arguments.key else {}
    with av.open(file, format=arguments.format, options=keys) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        # As GStreamer and the ffmpeg command do: a picture that refers to a lost one comes out.
        options = {"flags": "+output_corrupt"}
        if not arguments.single:
            options["view_ids"] = "-1"
        stream.codec_context.options = options
        for frame in container.decode(stream):
            samples = planes(frame)
            digest = hashlib.md5(samples).hexdigest()
            if arguments.write:
                with open(f"{arguments.write}/{view_id(frame)}.yuv", "ab") as file:
                    file.write(samples)
            print(view_id(frame), digest, frame.pts)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Prints how bright each eye's picture is, for each frame of a spatial movie.

    both_eyes.py MOVIE

Needs PyGObject and NumPy (Debian: python3-gi, gir1.2-gst-plugins-base-1.0, python3-numpy) and the plugin.
"""
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402, F401


def picture(sample):
    """A copy of the picture, rows x columns x RGB: the rows of a buffer may be longer."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    ok, memory = sample.get_buffer().map(Gst.MapFlags.READ)
    assert ok
    rows = numpy.frombuffer(memory.data, numpy.uint8)[:info.stride[0] * info.height]
    pixels = rows.reshape(info.height, info.stride[0])[:, :3 * info.width].copy()
    sample.get_buffer().unmap(memory)
    return pixels.reshape(info.height, info.width, 3)


def pull(sink, bus):
    """The next sample; None at the end. An error of any element ends the program."""
    while not (sample := sink.try_pull_sample(Gst.SECOND // 10)):
        if message := bus.pop_filtered(Gst.MessageType.ERROR):
            sys.exit(f"error: {message.parse_error()[0].message}")
        if sink.is_eos():
            return None
    return sample


def main(path):
    Gst.init(None)
    # Each branch has a queue: one thread feeds both eyes.
    eye = "queue ! videoconvert ! video/x-raw,format=RGB ! appsink sync=false name="
    pipeline = Gst.parse_launch(
        "filesrc name=source ! mvhevcdemux name=demux demux.video_0 ! mvhevcdec name=eyes "
        f"eyes.left ! {eye}left eyes.right ! {eye}right")
    pipeline.get_by_name("source").set_property("location", path)
    sinks = [pipeline.get_by_name(name) for name in ("left", "right")]
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while all(samples := [pull(sink, pipeline.get_bus()) for sink in sinks]):
            left, right = map(picture, samples)
            time = samples[0].get_segment().to_stream_time(
                Gst.Format.TIME, samples[0].get_buffer().pts)
            print(f"{time / Gst.SECOND:.3f} s: {left.shape} {left.mean():.1f} {right.mean():.1f}")
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

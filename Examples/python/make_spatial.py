#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Makes a spatial movie of a side-by-side one, with its audio, and shows the progress.

    make_spatial.py INPUT OUTPUT

Needs PyGObject (Debian: python3-gi, gir1.2-gstreamer-1.0) and the plugin.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402


def add_pad(decoder, pad, pipeline):
    """Links a decoded stream: pictures to the splitter, the first audio track to an encoder."""
    kind = pad.get_current_caps().get_structure(0).get_name()
    target = pipeline.get_by_name("pictures" if kind.startswith("video/") else "audio")
    if kind.startswith("audio/") and target is None:
        target = Gst.parse_bin_from_description(
            "audioconvert ! audioresample ! avenc_aac ! aacparse ! queue", True)
        target.set_name("audio")
        pipeline.add(target)
        target.link_pads("src", pipeline.get_by_name("mux"), "audio_0")
        target.sync_state_with_parent()
    if target is not None and not target.get_static_pad("sink").is_linked():
        pad.link(target.get_static_pad("sink"))


def main(source, target):
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "filesrc name=source ! decodebin name=decoder "
        "videoconvert name=pictures ! sbssplit name=eyes "
        "mvhevcmux name=mux ! filesink name=sink "
        "eyes.left ! mux.left eyes.right ! mux.right")
    pipeline.get_by_name("source").set_property("location", source)
    pipeline.get_by_name("sink").set_property("location", target)
    pipeline.get_by_name("decoder").connect("pad-added", add_pad, pipeline)
    pipeline.set_state(Gst.State.PLAYING)
    bus = pipeline.get_bus()
    kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR
    try:
        while True:
            message = bus.timed_pop_filtered(Gst.SECOND, kinds)
            if message is None:
                _, position = pipeline.query_position(Gst.Format.TIME)
                print(f"{position / Gst.SECOND:.1f} s", file=sys.stderr)
            elif message.type == Gst.MessageType.EOS:
                return None
            else:
                error, details = message.parse_error()
                return f"{message.src.get_name()}: {error.message}"
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Sends both eyes over WebRTC from one GStreamer to another, which records them.

    webrtc_loopback.py OUTPUT [PICTURES [SOURCE]]

SOURCE is a gst-launch line that gives side-by-side pictures; without it, a synthetic scene is sent. Both peers are in
this process: where a service would carry offers, answers and candidates between them, one is handed to the other.
Browsers cannot be a peer: none of them takes H.265 with two layers from WebRTC.

Needs PyGObject (Debian: python3-gi, gir1.2-gst-plugins-bad-1.0, gstreamer1.0-nice) and the plugin.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402, F401

SCENE = "stereotestsrc is-live=true ! video/x-raw,width=1280,height=360,framerate=30/1"
# Each keyframe has the parameter sets, and there is one each second.
SENDER = (
    "webrtcbin name=peer bundle-policy=max-bundle {source} ! sbssplit name=eyes "
    "eyes.left ! queue ! encoder.left eyes.right ! queue ! encoder.right "
    "mvhevcenc name=encoder speed-preset=ultrafast tune=zerolatency key-int-max=30 "
    "! rtph265pay config-interval=-1 "
    "! application/x-rtp,media=video,encoding-name=H265,payload=96,clock-rate=90000 ! peer.")
RECEIVER = (
    "rtph265depay ! identity eos-after={count} ! queue ! mvhevcmux ! filesink name=file location={output}")


class Call:
    def __init__(self, output, count, source):
        self.loop, self.error = GLib.MainLoop(), None
        self.recorder = RECEIVER.format(output=output, count=count + 1)
        self.sender = Gst.parse_launch(SENDER.format(source=source))
        self.receiver = Gst.parse_launch("webrtcbin name=peer bundle-policy=max-bundle")
        # A pipeline of one element is that element alone.
        if not isinstance(self.receiver, Gst.Pipeline):
            peer, self.receiver = self.receiver, Gst.Pipeline()
            self.receiver.add(peer)
        self.caller, self.callee = (each.get_by_name("peer") for each in (self.sender, self.receiver))
        self.caller.connect("on-ice-candidate", lambda _, *candidate: self.callee.emit("add-ice-candidate", *candidate))
        self.callee.connect("on-ice-candidate", lambda _, *candidate: self.caller.emit("add-ice-candidate", *candidate))
        self.caller.connect("on-negotiation-needed", lambda _: self.ask(self.caller, "create-offer", self.offered))
        self.callee.connect("pad-added", self.record)
        for pipeline in (self.sender, self.receiver):
            bus = pipeline.get_bus()
            bus.add_signal_watch()
            bus.connect("message::error", self.fail)

    @staticmethod
    def ask(peer, what, then):
        peer.emit(what, None, Gst.Promise.new_with_change_func(then))

    def offered(self, promise):
        self.offer = promise.get_reply()
        description = self.offer.get_value("offer")
        self.caller.emit("set-local-description", description, None)
        self.callee.emit(
            "set-remote-description", description, Gst.Promise.new_with_change_func(
                lambda _: self.ask(self.callee, "create-answer", self.answered)))

    def answered(self, promise):
        self.answer = promise.get_reply()
        description = self.answer.get_value("answer")
        self.callee.emit("set-local-description", description, None)
        self.caller.emit("set-remote-description", description, None)

    def record(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        recorder = Gst.parse_bin_from_description(self.recorder, True)
        recorder.get_by_name("file").get_static_pad("sink").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, self.watch)
        self.receiver.add(recorder)
        recorder.sync_state_with_parent()
        pad.link(recorder.get_static_pad("sink"))

    def watch(self, _, info):
        if info.get_event().type == Gst.EventType.EOS:
            GLib.idle_add(self.loop.quit)
        return Gst.PadProbeReturn.OK

    def fail(self, _, message):
        # What is sent after the recording has ended finds nobody.
        self.error = f"error: {message.parse_error()[0].message}"
        self.loop.quit()

    def run(self):
        for pipeline in (self.receiver, self.sender):
            pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        for pipeline in (self.sender, self.receiver):
            pipeline.set_state(Gst.State.NULL)
        return self.error


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    Gst.init(None)
    output, count, source = sys.argv[1:] + ["", "60", SCENE][len(sys.argv) - 1:]
    sys.exit(Call(output, int(count), source).run())

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Serves both eyes of a camera over RTSP, encoded once for all clients.

    rtsp_server.py [PORT [SOURCE]]

SOURCE is a gst-launch line that gives side-by-side pictures; without it, a synthetic scene is shown. Port 0
takes a free one. The address is printed. A client that keeps both eyes:

    rtspsrc location=rtsp://... ! rtph265depay ! mvhevcmux ! filesink location=both.mov

Needs PyGObject (Debian: python3-gi, gir1.2-gst-rtsp-server-1.0) and the plugin.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

SCENE = "stereotestsrc is-live=true ! video/x-raw,width=1280,height=360,framerate=30/1"
# A client may come at any time: each keyframe has the parameter sets, and there is one each second.
EYES = (
    "sbssplit name=eyes eyes.left ! queue ! encoder.left eyes.right ! queue ! encoder.right "
    "mvhevcenc name=encoder speed-preset=ultrafast tune=zerolatency key-int-max=30 "
    "! rtph265pay name=pay0 pt=96 config-interval=-1")


def main(port, source):
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {source} ! {EYES} )")
    factory.set_shared(True)
    server.get_mount_points().add_factory("/live", factory)
    if server.attach(None) == 0:
        return f"error: port {port} cannot be used"
    print(f"rtsp://127.0.0.1:{server.get_bound_port()}/live", flush=True)
    try:
        GLib.MainLoop().run()
    except KeyboardInterrupt:
        return None


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]) or len(sys.argv) > 3:
        sys.exit(__doc__)
    sys.exit(main(*(sys.argv[1:] + ["8554", SCENE][len(sys.argv) - 1:])))

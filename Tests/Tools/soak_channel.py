#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""A channel with everything that happens to one in a day, at random moments of a shorter time.

    soak_channel.py FOLDER SECONDS COMMAND [--seed N] [--kills N]

A camera and a microphone are streamed live into FOLDER with parts, H.264 of one eye beside both, and a manifest. The
camera and the microphone stop, alone or together; timestamps are missing, go back and jump; the picture changes its size;
the whole packager is killed (kill -9), and another continues (append). COMMAND, the built gst-spatial, serves the folder,
and four clients follow a rendition each as low-latency players do: they wait for the next part, and fetch it.

Prints a line of JSON: the kinds of faults with their numbers, what the clients were given, their longest wait with what
had happened before it, and the memory in MiB and open files of the packager and of the server, early and late. Needs PyGObject.
"""
import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

SIZES = ["width=256,height=64", "width=192,height=96"]
LINE = (
    "stereotestsrc is-live=true ! capsfilter name=size caps=video/x-raw,{size},framerate=15/1 ! tee name=t "
    "t. ! queue ! sbssplit name=s s.left ! queue ! e.left s.right ! queue ! e.right "
    "mvhevcenc name=e speed-preset=ultrafast tune=zerolatency key-int-max=150 ! valve name=camera ! "
    "queue name=pictures ! h.video_0 "
    "t. ! queue ! sbssplit name=one one.left ! queue ! videoconvert ! "
    "x264enc speed-preset=ultrafast tune=zerolatency key-int-max=150 ! valve name=camera2 ! "
    "queue name=pictures2 ! h.video_1 "
    "audiotestsrc is-live=true samplesperbuffer=1024 volume=0.1 ! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! "
    "valve name=microphone ! queue name=sound ! h.audio_0 "
    "mvhevchlssink name=h location={folder}/%s/segment%05d.m4s init-location={folder}/%s/init%05d.mp4 "
    "playlist-location={folder}/%s/index.m3u8 multivariant-playlist-location={folder}/main.m3u8 "
    "mpd-location={folder}/manifest.mpd target-duration=2 segment-duration=1000000000 part-duration=250000000 "
    "playlist-length=12 pad-timeout=1000000000 append=true enable-endlist=false")
CLIENTS = ["video_0", "video_0_mono", "video_1", "audio_0"]


def resources(process):
    """Resident memory in MiB and open files."""
    with open(f"/proc/{process}/status") as status:
        memory = int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) >> 10
    return memory, len(os.listdir(f"/proc/{process}/fd"))


# The packager, a process of its own.


def package(folder, seed):
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, GObject, Gst
    Gst.init(None)
    dice = random.Random(seed)
    line = LINE.format(folder=folder, size=SIZES[0])
    pipeline = Gst.parse_launch(line)
    loop = GLib.MainLoop()

    def say(**facts):
        print(json.dumps(facts), flush=True)

    def message(_, message):
        if message.type == Gst.MessageType.ERROR:
            say(error=str(message.parse_error()))
            loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", message)

    def element(name):
        return pipeline.get_by_name(name)

    def silence(*names):
        for name in names:
            element(name).set_property("drop", True)
        GLib.timeout_add(dice.randint(500, 5000), lambda: [
            element(name).set_property("drop", False) for name in names] and False)

    def shift(seconds, *names):
        for name in names:
            pad = element(name).get_static_pad("src")
            pad.set_offset(pad.get_offset() + int(seconds * 1e9))

    def correct(name):
        """Moves keyframe requests by the pad's offset: GStreamer 1.22 takes those of negative ones for the time 0."""
        def probe(pad, info):
            event = info.get_event()
            structure = event.get_structure()
            if structure is None or structure.get_name() != "GstForceKeyUnit":
                return Gst.PadProbeReturn.OK
            time = structure.get_clock_time("running-time")[1] + event.get_running_time_offset()
            moved = structure.copy()
            moved.set_value("running-time", GObject.Value(GObject.TYPE_UINT64, max(time, 0)))
            pad.get_parent_element().get_static_pad("sink").push_event(
                Gst.Event.new_custom(Gst.EventType.CUSTOM_UPSTREAM, moved))
            return Gst.PadProbeReturn.DROP
        element(name).get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_UPSTREAM, probe)

    def unstamp(name):
        def probe(pad, info):
            buffer = info.get_buffer().copy()
            buffer.pts = buffer.dts = Gst.CLOCK_TIME_NONE
            pad.remove_probe(number)
            pad.push(buffer)
            return Gst.PadProbeReturn.DROP
        number = element(name).get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, probe)

    pictures = ("pictures", "pictures2")
    faults = {
        "camera stops": lambda: silence("camera", "camera2"),
        "microphone stops": lambda: silence("microphone"),
        "all stop": lambda: silence("camera", "camera2", "microphone"),
        "audio steps back a little": lambda: shift(-0.03, "sound"),
        "pictures step back": lambda: shift(-0.5, *pictures),
        "all jump": lambda: shift(dice.choice([-30, -7200, 40]), "sound", *pictures),
        "no timestamp": lambda: unstamp(dice.choice(["sound", *pictures])),
        "other size": lambda: element("size").set_property(
            "caps", Gst.Caps.from_string(f"video/x-raw,{dice.choice(SIZES)},framerate=15/1")),
    }

    def disturb():
        name = dice.choice(list(faults))
        faults[name]()
        say(fault=name)
        GLib.timeout_add(dice.randint(4000, 12000), disturb)
        return False

    for name in pictures:
        correct(name)
    GLib.timeout_add(5000, disturb)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)


# The clients.


class Client(threading.Thread):
    """Follows a rendition: the playlist with the next part, then that part, whatever happens to the channel."""

    def __init__(self, port, rendition):
        super().__init__(daemon=True)
        self.port, self.rendition = port, rendition
        self.seen = dict(reloads=0, parts=0, segments=0, unavailable=0)
        self.wrong, self.longest, self.waited, self.isOver = [], 0.0, 0.0, False
        self.connection = None

    def get(self, name):
        for attempt in (1, 2):
            try:
                self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                self.connection.request("GET", f"/{self.rendition}/{name}")
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError):
                self.connection = None
                if attempt == 2:
                    raise

    def run(self):
        try:
            self.follow()
        except Exception as error:
            self.wrong.append(repr(error))

    def follow(self):
        sequence, part, known, news = None, 0, set(), time.monotonic()
        while not self.isOver:
            place = "" if sequence is None else f"?_HLS_msn={sequence}&_HLS_part={part}"
            status, body = self.get(f"index.m3u8{place}")
            if status == 503 or status == 404 and sequence is None:
                # Nothing came for three target durations: the channel is being started again.
                self.seen["unavailable"] += 1
                time.sleep(0.2)
                continue
            if status == 400:
                # Another run has begun with a new segment.
                sequence = None
                continue
            if status != 200:
                self.wrong.append(f"{status} for index.m3u8{place}")
                return
            self.seen["reloads"] += 1
            text = body.decode()
            first = int(re.search(r"MEDIA-SEQUENCE:(\d+)", text)[1])
            blocks = re.split(r"(?m)^[^#\n].*\n", text)
            uris = re.findall(r"(?m)^([^#\n].*)\n", text)
            parts = re.findall(r'#EXT-X-PART:.*URI="([^"]+)"', text)
            gaps = {uri for block, uri in zip(blocks, uris) if "#EXT-X-GAP" in block}
            fresh = [name for name in parts + uris if name not in known and name not in gaps]
            for name in fresh if known else fresh[-1:]:
                status, body = self.get(name)
                if status != 200 or not body:
                    self.wrong.append(f"{status}, {len(body)} bytes for {name}")
                kind = "parts" if name in parts else "segments"
                self.seen[kind] += 1
            if fresh or gaps - known:
                now = time.monotonic()
                if now - news > self.longest:
                    self.longest, self.waited = now - news, news
                news = now
            known = set(parts) | set(uris)
            if sequence is not None and first + len(uris) < sequence:
                self.wrong.append(f"the playlist went back from {sequence} to {first + len(uris)}")
            sequence, part = first + len(uris), len(re.findall("#EXT-X-PART:", blocks[-1]))


# All together.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("seconds", type=float)
    parser.add_argument("command")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    dice = random.Random(seed)
    faults, history, errors, used = {}, [], [], {"packager": [], "server": []}

    def listen(process):
        for line in process.stdout:
            facts = json.loads(line)
            if "fault" in facts:
                faults[facts["fault"]] = faults.get(facts["fault"], 0) + 1
                history.append((time.monotonic(), facts["fault"]))
            errors.extend([facts["error"]] if "error" in facts else [])

    def start():
        process = subprocess.Popen(
            [sys.executable, __file__, "--package", options.folder, str(dice.random())], stdout=subprocess.PIPE,
            text=True)
        threading.Thread(target=listen, args=[process], daemon=True).start()
        return process

    # Its children end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.makedirs(options.folder, exist_ok=True)
    server = subprocess.Popen(
        [options.command, "serve", options.folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    packager, begun = start(), time.monotonic()
    end = begun + options.seconds
    kills = sorted(begun + options.seconds * dice.uniform(0.15, 0.85) for _ in range(options.kills))
    clients = [Client(port, name) for name in CLIENTS]
    try:
        while not os.path.exists(f"{options.folder}/main.m3u8") and time.monotonic() < begun + 120:
            time.sleep(0.1)
        for client in clients:
            client.start()
        since = time.monotonic()
        while time.monotonic() < end:
            time.sleep(1)
            if kills and time.monotonic() > kills[0]:
                kills.pop(0)
                packager.kill()
                packager.wait()
                history.append((time.monotonic(), "kill"))
                time.sleep(dice.uniform(0, 3))
                packager, since = start(), time.monotonic()
            elif packager.poll() is not None:
                errors.append(f"the packager ended with {packager.returncode}")
                break
            # What a process has after its start says nothing.
            if time.monotonic() > since + 15:
                used["packager"].append(resources(packager.pid))
            used["server"].append(resources(server.pid))
        for client in clients:
            client.isOver = True
        for client in clients:
            client.join(30)
    finally:
        packager.send_signal(signal.SIGKILL)
        server.terminate()

    def before(client):
        """What happened in the twenty seconds before the longest wait and during it, with its time in that wait."""
        return [f"{when - client.waited:.1f} s: {what}" for when, what in history
                if -20 < when - client.waited < client.longest]

    def ends(values):
        third = values[: len(values) // 3 + 1]
        return {"early": max(third, default=(0, 0)), "late": values[-1] if values else (0, 0)}

    print(json.dumps({
        "seed": seed, "faults": faults, "errors": errors, "kills": options.kills - len(kills),
        "clients": {
            client.rendition: client.seen | {"longest": round(client.longest, 2), "before": before(client)}
            for client in clients},
        "wrong": [f"{client.rendition}: {wrong}" for client in clients for wrong in client.wrong],
        "packager": ends(used["packager"]), "server": ends(used["server"])}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--package"]:
        package(sys.argv[2], float(sys.argv[3]))
    else:
        main()

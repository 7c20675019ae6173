#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Kills recorders and packagers at random moments, and looks at what is left.

    kill_streams.py [--moments N] [--seed N]

Each run records a live scene twice: as it is to survive (a movie in fragments, HLS with parts, or HLS
that goes on with what a killed run left), and as a byte stream of the same access units, to compare with.
At a random moment the program is killed. What is left must play with both eyes, bit by bit what was
encoded, and lack no fragment that was whole; the recording becomes a movie by `gst-spatial recover`; the
playlists list nothing that is not there, and still list what the run before listed. Every second packager
writes to a slow disk.

Says in a line what was seen; ends with an error at the first thing that is wrong.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FPS = 30
FRAGMENT = 0.5
# The frames that may wait for a slow disk: a queue's second, and as much that is being written.
QUEUED = 2 * FPS

SOURCE = (
    "stereotestsrc is-live=true ! video/x-raw,width=256,height=128,framerate=30/1 ! sbssplit name=s "
    "s.left ! queue ! e.left s.right ! queue ! e.right "
    "mvhevcenc name=e speed-preset=ultrafast tune=zerolatency key-int-max=15 ! "
    "video/x-h265,stream-format=byte-stream ! tee name=t "
    "t. ! queue ! filesink buffer-mode=unbuffered location={folder}/{all} t. ! queue ! ")
RECORDER = SOURCE + (
    "mux.video_0 mvhevcmux name=mux fragment-duration=500000000 fragment-mode=first-moov-then-finalise ! "
    "filesink location={folder}/take.mov")
PACKAGER = SOURCE + (
    "h.video_0 mvhevchlssink name=h target-duration=1 part-duration=200000000 playlist-type=event "
    "location={folder}/%s/segment%05d.m4s init-location={folder}/%s/init%05d.mp4 "
    "playlist-location={folder}/%s/index.m3u8 multivariant-playlist-location={folder}/main.m3u8 append=true")


def frames(path, *options):
    """The MD5 of each frame of each view, as far as an independent decoder gets."""
    result = subprocess.run(
        [sys.executable, os.path.join(HERE, "decode_views.py"), *options, path], capture_output=True, text=True)
    views = {}
    for line in result.stdout.splitlines():
        view, digest = line.split()[:2]
        views.setdefault(view, []).append(digest)
    return views


def slow_disk(folder):
    """The environment of a program whose disk is slow."""
    library = f"{folder}/slow_writes.so"
    source = os.path.join(HERE, "slow_writes.c")
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", source, "-o", library], check=True)
    return {**os.environ, "LD_PRELOAD": library}


def record(line, folder, seconds, coded="all.h265", environment=None):
    line = line.replace("{folder}", folder).replace("{all}", coded)
    process = subprocess.Popen(["gst-launch-1.0", "-q", *line.split()], env=environment)
    time.sleep(seconds)
    if process.poll() is not None:
        sys.exit(f"it ended by itself: {process.returncode}")
    process.send_signal(signal.SIGKILL)
    process.wait()


def compare(found, folder, least, what, coded="all.h265"):
    """Both eyes, from the first frame on, bit by bit."""
    all_frames = frames(f"{folder}/{coded}", "--format", "hevc")
    assert set(found) == {"0", "1"}, f"{what}: views {sorted(found)}"
    counts = {view: len(digests) for view, digests in found.items()}
    assert len(set(counts.values())) == 1, f"{what}: {counts}"
    count = counts["0"]
    for view, digests in found.items():
        known = all_frames.get(view, [])
        shared = min(len(known), count)
        assert digests[:shared] == known[:shared], f"{what}: view {view} differs"
        # What was whole is there: all but the fragment that was open, and what was on its way.
        assert count >= len(known) - least, f"{what}: {count} of {len(known)} frames"
    return count


def one(views):
    """The frames of the only view."""
    (digests,) = views.values()
    return digests


def recording(command, seconds, _):
    with tempfile.TemporaryDirectory() as folder:
        record(RECORDER, folder, seconds)
        path = f"{folder}/take.mov"
        if not os.path.exists(path) or os.path.getsize(path) < 1000:
            assert seconds < 2.5, "nothing was recorded"
            return 0
        open_frames = int(FPS * FRAGMENT) * 2 + 8
        torn = compare(frames(path), folder, open_frames, "torn")
        before = open(path, "rb").read()
        subprocess.run([command, "recover", path], check=True, capture_output=True)
        recovered = compare(frames(path), folder, open_frames, "recovered")
        assert recovered >= torn, f"recovered {recovered} of {torn} frames"
        after = open(path, "rb").read()
        assert after[200:len(before) // 2] == before[200:len(before) // 2]
        return recovered


def runs(place):
    """What a playlist lists of each run, parts of the open segment included, each run in one file."""
    text = open(f"{place}/index.m3u8").read()
    assert text.startswith("#EXTM3U\n") and text.endswith("\n"), text
    for address in re.findall(r'#EXT-X-PART:.*?URI="([^"]+)"', text):
        assert os.path.getsize(f"{place}/{address}") > 0, address
    paths = []
    for run in re.split(r'(?=#EXT-X-MAP:)', text)[1:]:
        (header,) = re.findall(r'^#EXT-X-MAP:.*?URI="([^"]+)"', run)
        segments = re.findall(r"^(?!#)(.+)$", run, re.M)
        rest = run.rsplit("\n" + segments[-1] + "\n", 1)[-1] if segments else run
        parts = re.findall(r'#EXT-X-PART:.*?URI="([^"]+)"', rest)
        paths.append(f"{place}-{len(paths)}.mp4")
        with open(paths[-1], "wb") as output:
            for address in [header, *segments, *parts]:
                data = open(f"{place}/{address}", "rb").read()
                assert data, address
                output.write(data)
    return paths


def listed(folder, coded, slow=False):
    """How many frames the playlists list of each run, all of them what was encoded."""
    counts = []
    for name in ("video_0", "video_0_mono"):
        if not os.path.exists(f"{folder}/{name}/index.m3u8"):
            return []
        for index, path in enumerate(runs(f"{folder}/{name}")):
            found = frames(path)
            if name == "video_0":
                # A part, and a frame whose end is not known yet, may be missing, and what was on its way.
                least = 24 + (QUEUED if slow else 0)
                counts.append(compare(found, folder, least, f"run {index}", coded[index]))
            else:
                base = one(frames(f"{folder}/{coded[index]}", "--format", "hevc", "--single"))
                mono = one(found)
                shared = min(len(base), len(mono))
                assert shared and mono[:shared] == base[:shared], "the base eye differs"
    return counts


def packaging(_, seconds, slow):
    with tempfile.TemporaryDirectory() as folder:
        record(PACKAGER, folder, seconds, environment=slow_disk(folder) if slow else None)
        counts = listed(folder, ["all.h265"], slow)
        assert counts or slow or seconds < 2.5, "nothing was listed"
        return sum(counts)


def appending(_, seconds, slow):
    with tempfile.TemporaryDirectory() as folder:
        record(PACKAGER, folder, 3, "all.h265")
        before = listed(folder, ["all.h265"])
        assert len(before) == 1, f"the first run listed {before}"
        record(PACKAGER, folder, seconds, "more.h265", slow_disk(folder) if slow else None)
        after = listed(folder, ["all.h265", "more.h265"], slow)
        assert after[0] == before[0], f"{before[0]} frames of the first run became {after[0]}"
        assert len(after) == 2 or slow or seconds < 2.5, "nothing was listed of the second run"
        return sum(after[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    command = os.path.join(os.environ["GST_PLUGIN_PATH"].split(":")[0], "gst-spatial")
    for name, test in (("recordings", recording), ("streams", packaging),
                       ("streams gone on with", appending)):
        counts = [test(command, moments.uniform(0.5, 5), bool(n % 2)) for n in range(options.moments)]
        print(f"{name}: killed at {len(counts)} moments, {sum(c > 0 for c in counts)} of them with frames, "
              f"{sum(counts)} frames kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())

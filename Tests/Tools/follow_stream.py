#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Follows a live HLS stream with low latency, as players do, and checks what it is given.

    follow_stream.py URL FILE [--parts N] [--insecure]

URL is that of a media playlist. It is asked for with the part that comes next, again and again; at
the same time the part that was announced is fetched, so that both are held by the server until they
are there. What comes is written to FILE, after the initialization section, until N parts have come or
the stream ends. Says in one line of JSON what was seen.
"""
import argparse
import http.client
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse


class Server:
    """A connection that stays open."""

    def __init__(self, url, insecure):
        self.url = urllib.parse.urlsplit(url)
        self.insecure = insecure
        self.connection = None

    def get(self, url):
        target = urllib.parse.urlsplit(url)
        for attempt in (1, 2):
            if self.connection is None:
                if self.url.scheme == "https":
                    context = ssl.create_default_context()
                    if self.insecure:
                        context.check_hostname = False
                        context.verify_mode = ssl.CERT_NONE
                    self.connection = http.client.HTTPSConnection(self.url.netloc, timeout=60, context=context)
                else:
                    self.connection = http.client.HTTPConnection(self.url.netloc, timeout=60)
            try:
                path = target.path + ("?" + target.query if target.query else "")
                self.connection.request("GET", path)
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                # The server may close a connection that rests.
                self.connection = None
                if attempt == 2:
                    raise


def attributes(line):
    return {
        name: value.strip('"')
        for name, value in re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^,]*)', line.split(":", 1)[1])
    }


class Playlist:
    """`blocks` are the lines of each segment; `parts` all parts that are listed, by their place."""

    def __init__(self, text, before=None):
        lines = text.split("\n")
        assert lines[0] == "#EXTM3U", text
        self.head, self.blocks, self.tail = [], [], []
        self.sequence = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1])
        skip = re.search(r"#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)", text)
        self.skipped = int(skip[1]) if skip else 0
        if self.skipped:
            assert "#EXT-X-VERSION:9" in text, text
            first = self.sequence - before.sequence
            self.blocks = before.blocks[first : first + self.skipped]
            assert len(self.blocks) == self.skipped, "it skips what was never seen"
        block, in_head = [], True
        for line in lines[1:]:
            if in_head and line.startswith(("#EXT-X-VERSION", "#EXT-X-TARGET", "#EXT-X-SERVER", "#EXT-X-PART-INF",
                                            "#EXT-X-MEDIA-SEQ", "#EXT-X-DISCONTINUITY-SEQ", "#EXT-X-SKIP", "#EXT-X-PLAYLIST")):
                continue
            in_head = False
            block.append(line)
            if line and not line.startswith("#"):
                self.blocks.append(block)
                block = []
        self.tail = block
        self.ended = "#EXT-X-ENDLIST" in self.tail
        whole = "\n".join("\n".join(block) for block in self.blocks + [self.tail])
        self.map = re.search(r'#EXT-X-MAP:URI="([^"]+)"', whole)
        self.map = self.map[1] if self.map else before and before.map
        self.parts = {}
        for index, block in enumerate(self.blocks + [self.tail]):
            number = 0
            for line in block:
                if line.startswith("#EXT-X-PART:"):
                    self.parts[(self.sequence + index, number)] = attributes(line)
                    number += 1
        self.next_sequence = self.sequence + len(self.blocks)
        self.open_parts = sum(line.startswith("#EXT-X-PART:") for line in self.tail)
        hint = [line for line in self.tail if line.startswith("#EXT-X-PRELOAD-HINT:")]
        self.hint = attributes(hint[0])["URI"] if hint else None

    def segment(self, sequence):
        """The address of a segment that is complete, and listed."""
        return self.blocks[sequence - self.sequence][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("file")
    parser.add_argument("--parts", type=int, default=10**9)
    parser.add_argument("--insecure", action="store_true")
    options = parser.parse_args()
    lists, media = (Server(options.url, options.insecure) for _ in range(2))

    def absolute(address):
        return urllib.parse.urljoin(options.url, address)

    status, text = lists.get(options.url)
    assert status == 200, status
    playlist = Playlist(text.decode())
    output = open(options.file, "wb")
    status, initialization = media.get(absolute(playlist.map))
    assert status == 200
    output.write(initialization)
    # Begins with the last segment, which begins with a keyframe.
    place = (playlist.next_sequence, 0) if playlist.open_parts else (playlist.next_sequence - 1, 0)
    seen = dict(reloads=0, deltas=0, hints=0, broken_hints=0, parts=0, segments=0)
    waits, bytes_of, addresses = [], {}, {}
    hinted = {}

    def preload(address):
        hinted[address] = media.get(absolute(address))

    while seen["parts"] < options.parts:
        while place in playlist.parts and seen["parts"] < options.parts:
            part = playlist.parts[place]
            assert place[1] > 0 or part.get("INDEPENDENT") == "YES", (place, part)
            address = part["URI"]
            if address in hinted:
                status, content = hinted.pop(address)
                seen["hints"] += 1
            else:
                status, content = media.get(absolute(address))
            assert status == 200, (status, address)
            assert content[4:8] in (b"styp", b"prft", b"moof"), content[:8]
            output.write(content)
            bytes_of.setdefault(place[0], []).append(content)
            seen["parts"] += 1
            addresses[place] = address
            place = (place[0], place[1] + 1)
        if place[0] < playlist.next_sequence and place not in playlist.parts:
            whole = b"".join(bytes_of.get(place[0], []))
            status, content = media.get(absolute(playlist.segment(place[0])))
            assert status == 200 and (not whole or content == whole), "a segment is not the sum of its parts"
            seen["segments"] += 1
            place = (place[0] + 1, 0)
            continue
        if playlist.ended or seen["parts"] >= options.parts:
            break
        fetching = None
        if playlist.hint:
            fetching = threading.Thread(target=preload, args=(playlist.hint,))
            fetching.start()
        begin = time.monotonic()
        status, text = lists.get(f"{options.url}?_HLS_msn={place[0]}&_HLS_part={place[1]}&_HLS_skip=YES")
        waits.append(time.monotonic() - begin)
        assert status == 200, status
        seen["reloads"] += 1
        hint = playlist.hint
        playlist = Playlist(text.decode(), playlist)
        seen["deltas"] += playlist.skipped > 0
        assert playlist.ended or place in playlist.parts or place[0] < playlist.next_sequence, "it came too early"
        if fetching:
            fetching.join()
            if hinted[hint][0] != 200:
                # The segment ended before that part.
                seen["broken_hints"] += 1
                del hinted[hint]
    seen["longest_wait"] = round(max(waits, default=0), 3)
    seen["mean_wait"] = round(sum(waits) / max(len(waits), 1), 3)
    print(json.dumps(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())

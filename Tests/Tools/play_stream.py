# SPDX-License-Identifier: MPL-2.0
"""Plays a finished stream of HLS in a headless Chromium, as players of web pages do: by Media Source Extensions.

    play_stream.py FOLDER PLAYLIST [KEY_ID:KEY]...

The first variant whose codecs the browser supports is played to its end, with its audio. Prints its playlist and the
size of its pictures, their number, and the duration. Keys, both parts in hexadecimal digits, are given to the browser's
own decryption (Encrypted Media Extensions with the key system org.w3.clearkey).
"""
import base64
import functools
import http.server
import posixpath
import re
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

PLAYER = """
async ({streams, keys}) => {
  const video = document.createElement('video');
  video.muted = true;
  if (keys.length) {
    const capabilities = (kind) => streams.filter(({type}) => type.startsWith(kind)).map(
      ({type}) => ({contentType: type, encryptionScheme: 'cbcs'}));
    const access = await navigator.requestMediaKeySystemAccess('org.w3.clearkey', [{
      initDataTypes: ['keyids'], videoCapabilities: capabilities('video'), audioCapabilities: capabilities('audio')}]);
    const media = await access.createMediaKeys();
    await video.setMediaKeys(media);
    const session = media.createSession();
    session.onmessage = () => session.update(
      new TextEncoder().encode(JSON.stringify({keys: keys.map(({id, key}) => ({kty: 'oct', kid: id, k: key}))})));
    await session.generateRequest('keyids', new TextEncoder().encode(JSON.stringify({kids: keys.map(({id}) => id)})));
  }
  document.body.append(video);
  const source = new MediaSource();
  video.src = URL.createObjectURL(source);
  await new Promise((done) => source.addEventListener('sourceopen', done, {once: true}));
  // No more can be added when there is data.
  const buffers = streams.map(({type}) => source.addSourceBuffer(type));
  for (const [index, {files}] of streams.entries()) {
    const buffer = buffers[index];
    for (const file of files) {
      const bytes = await (await fetch(file)).arrayBuffer();
      await new Promise((done, failed) => {
        buffer.onupdateend = done;
        buffer.onerror = () => failed(new Error(file));
        buffer.appendBuffer(bytes);
      });
    }
  }
  source.endOfStream();
  video.playbackRate = 2;
  await new Promise((done, failed) => {
    video.onended = done;
    video.onerror = () => failed(new Error(video.error.message));
    video.play();
  });
  const quality = video.getVideoPlaybackQuality();
  return [video.videoWidth, video.videoHeight, quality.totalVideoFrames, video.duration];
}
"""


def attributes(line):
    return {k: v.strip('"') for k, v in re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^,]*)', line)}


def variants(text):
    """The addresses of the variants with pictures, with their codecs and the audio that they name."""
    lines = text.splitlines()
    audio = {a["GROUP-ID"]: a["URI"] for a in map(attributes, lines) if a.get("URI") and "GROUP-ID" in a}
    for line, address in zip(lines, lines[1:]):
        if line.startswith("#EXT-X-STREAM-INF:") and "RESOLUTION" in line:
            stream = attributes(line)
            yield address, stream["CODECS"].split(","), audio.get(stream.get("AUDIO"))


def files(folder, playlist):
    """Initialization sections and segments, in their order."""
    names = re.findall(r'(?m)^(?:#EXT-X-MAP:URI="([^"]+)".*|([^#\s].*))$', (folder / playlist).read_text())
    return [posixpath.join(posixpath.dirname(playlist), section or segment) for section, segment in names]


def url_base64(digits):
    return base64.urlsafe_b64encode(bytes.fromhex(digits)).decode().rstrip("=")


folder = Path(sys.argv[1])
keys = [dict(zip(["id", "key"], map(url_base64, pair.split(":")))) for pair in sys.argv[3:]]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
threading.Thread(target=server.serve_forever, daemon=True).start()
with sync_playwright() as play:
    browser = play.chromium.launch(
        executable_path="/usr/bin/chromium-headless-shell",
        args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    for address, codecs, audio in variants((folder / sys.argv[2]).read_text()):
        types = [f'{kind}/mp4; codecs="{codec}"' for kind, codec in zip(["video", "audio"], codecs)]
        if page.evaluate("(types) => types.every((type) => MediaSource.isTypeSupported(type))", types):
            break
    else:
        sys.exit("the browser supports no variant")
    streams = [{"type": kind, "files": files(folder, playlist)} for kind, playlist in zip(types, [address, audio])]
    width, height, count, seconds = page.evaluate(PLAYER, {"streams": streams, "keys": keys})
    browser.close()
print(f"{address} {width}x{height}\n{count} pictures\n{seconds:.1f} seconds")

# SPDX-License-Identifier: MPL-2.0
"""Serves the files of a folder over HTTP, parts of them, too, and prints its port.

  range_server.py FOLDER

The path is /FILE, or /KIND/FILE for a server that is not as it should be: `whole` gives no ranges,
`unversioned` no ETag and no Last-Modified, `busy` is too busy, `endless` says that files are very
large, `moved` redirects to /FILE.
"""
import hashlib
import http.server
import os
import re
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = self.path.partition("?")[0]
        kind, _, name = path[1:].rpartition("/")
        try:
            with open(os.path.join(sys.argv[1], name), "rb") as file:
                data = file.read()
        except OSError:
            return self.answer(404, b"")
        if kind == "busy":
            return self.answer(503, b"")
        if kind == "moved":
            return self.answer(302, b"", Location="/" + name)
        fields = {}
        if kind != "unversioned":
            fields["ETag"] = '"' + hashlib.md5(data).hexdigest() + '"'
        wanted = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        if wanted is None or kind == "whole":
            return self.answer(200, data, **fields)
        start = int(wanted[1])
        part = data[start : int(wanted[2]) + 1 if wanted[2] else None]
        if not part:
            return self.answer(416, b"")
        size = 1 << 62 if kind == "endless" else len(data)
        fields["Content-Range"] = f"bytes {start}-{start + len(part) - 1}/{size}"
        self.answer(206, part, **fields)

    do_HEAD = do_GET

    def answer(self, status, data, **fields):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Accept-Ranges", "bytes")
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        try:
            if self.command != "HEAD":
                self.wfile.write(data)
        except OSError:
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()

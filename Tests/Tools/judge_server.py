# SPDX-License-Identifier: MPL-2.0
"""Runs Python programs for the tests, each in a fork that has PyAV and NumPy imported already.

  judge_server.py SOCKET

A request is a line of JSON with the program's arguments as Python takes them (["-c", TEXT, ...] or
[FILE, ...]) and its folder. The answer is a line with the exit status and two byte counts, then what the
program wrote to standard output and to standard error. The server ends when its standard input does.
"""
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
import threading
import traceback

try:
    import av
    import numpy
except ImportError:
    pass  # The tests that need them find out for themselves.

# After so many seconds a program hangs.
HANG = 600


def main(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(connection)
            os._exit(0)
        connection.close()


def end_with_standard_input():
    sys.stdin.read()
    os._exit(0)


def answer(connection):
    request = json.loads(connection.makefile("r").readline())
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        program = os.fork()
        if program == 0:
            connection.close()
            run(request, output, errors)
        _, status = os.waitpid(program, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read())
        connection.sendall(f"{code} {len(texts[0])} {len(texts[1])}\n".encode())
        for text in texts:
            connection.sendall(text)


def run(request, output, errors):
    """Becomes the program."""
    signal.alarm(HANG)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    os.chdir(request["folder"])
    status = 0
    try:
        first, *rest = request["arguments"]
        if first == "-c":
            sys.argv = ["-c", *rest[1:]]
            sys.path[0] = ""
            exec(compile(rest[0], "<program>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = [first, *rest]
            sys.path[0] = os.path.dirname(os.path.abspath(first))
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Prints what FFmpeg's libavformat, as PyAV brings it along, says of a movie: dump_format.py MOVIE"""
import ctypes
import ctypes.util
import glob
import os
import sys

import av

folder = os.path.join(os.path.dirname(os.path.dirname(av.__file__)), "av.libs")


def library(name):
    # Debian's PyAV takes the system's.
    found = glob.glob(os.path.join(folder, f"lib{name}*")) or [ctypes.util.find_library(name)]
    return ctypes.CDLL(found[0])


util, formats = library("avutil"), library("avformat")
context = ctypes.c_void_p()
if formats.avformat_open_input(ctypes.byref(context), sys.argv[1].encode(), None, None) < 0:
    sys.exit(f"{sys.argv[1]} cannot be opened")
formats.avformat_find_stream_info(context, None)
# What is logged goes to standard error, or to Python, where PyAV keeps it.
os.dup2(1, 2)
util.av_log_set_callback(util.av_log_default_callback)
util.av_log_set_level(32)
formats.av_dump_format(context, 0, sys.argv[1].encode(), 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What a movie's tracks of sound hold, by PyAV: a line each of codec, sample rate, channels and how many
samples of each channel there are, and a line for each channel of the tones in parts of half a second, in
hertz, 0 for silence.

  sound_facts.py MOVIE"""
import sys

import av
import numpy as np


def tone(samples, rate):
    """The strongest frequency; 0 where there is next to nothing."""
    if np.sqrt(np.mean(samples ** 2)) < 1e-3:
        return 0
    strengths = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return round(np.argmax(strengths) * rate / len(samples))


with av.open(sys.argv[1]) as movie:
    for number in range(len(movie.streams.audio)):
        movie.seek(0)
        stream = movie.streams.audio[number]
        parts = []
        for frame in movie.decode(stream):
            # From interleaved and planar kinds alike.
            values = frame.to_ndarray().astype(np.float64)
            channels = len(frame.layout.channels)
            parts.append(values if values.shape[0] == channels else values.reshape(-1, channels).T)
        rate = stream.rate
        samples = np.concatenate(parts, axis=1)
        print(stream.codec_context.name, rate, samples.shape[0], samples.shape[1])
        step = rate // 2
        for channel in samples:
            print(*(tone(channel[at:at + step], rate) for at in range(0, len(channel) - step + 1, step)))

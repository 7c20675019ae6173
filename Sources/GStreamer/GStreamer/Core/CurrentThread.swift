// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The thread that calls this, as a number that no other living thread has.
public var currentThread: UInt { UInt(bitPattern: g_thread_self()) }

// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Testing

/// What elements say of eyes that do not go together.
struct EyeMessageTests {
  @Test("a change of format is reported with the old and the new value")
  func formatChange() async throws {
    let failure = try await failure(
      of: "concat name=c ! m.left "
        + "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=64 ! c. "
        + "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=96,height=64 ! c. "
        + "videotestsrc num-buffers=6 ! video/x-raw,format=I420,width=64,height=64 ! m.right "
        + "mvhevcmux fragment-duration=1000000000 name=m ! fakesink")
    #expect(failure.message.contains("width from 64 to 96"), "\(failure)")
  }

  @Test("two eyes with different GOP patterns are refused with the options that prevent it")
  func patterns() async throws {
    let failure = try await failure(
      of: "stereotestsrc num-buffers=20 ! video/x-raw,width=256,height=64 ! sbssplit name=s "
        + "s.left ! queue ! x265enc key-int-max=5 ! h265parse ! m.left "
        + "s.right ! queue ! x265enc key-int-max=9 ! h265parse ! m.right "
        + "mvhevcmux fragment-duration=1000000000 name=m ! fakesink")
    #expect(failure.message.contains("scenecut=0"), "\(failure)")
  }
}

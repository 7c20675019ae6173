// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// A user who looks around in a window for a long time, with mouse, wheel and keys. `make soak
/// MINUTES=120` takes its time; as one of the tests it lasts ten seconds.
@Suite(.tags(.process, .exhaustive))
struct LookingSoakTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// How long, in seconds.
  private static let length =
    ProcessInfo.processInfo.environment["GST_SPATIAL_SOAK_MINUTES"].flatMap(Double.init)
    .map { Int($0 * 60) } ?? 10

  /// Both eyes see the same pictures, so that the halves of the window differ only where the eyes
  /// look elsewhere.
  private static let script = """
    gst-launch-1.0 -m videotestsrc is-live=true pattern=smpte \
      ! video/x-raw,format=I420,width=256,height=256,framerate=30/1 ! tee name=a \
      a. ! queue ! p.left a. ! queue ! p.right stereopack name=p mode=side-by-side \
      ! sphericalview projection=half-equirectangular ! video/x-raw,width=640,height=240 \
      ! tee name=b b. ! queue ! videoconvert ! ximagesink sync=false \
      b. ! queue ! videocrop right=320 ! c.sink b. ! queue ! videocrop left=320 ! c.check \
      compare name=c meta=memory ! fakesink sync=false > said 2>&1 & player=$!
    for try in $(seq 100); do
      xdotool search --onlyvisible --name . >/dev/null 2>&1 && break
      sleep 0.1
    done
    end=$(($(date +%s) + \(length)))
    place() { echo $((RANDOM % 640)) $((RANDOM % 240)); }
    while [ $(date +%s) -lt $end ]; do
      case $((RANDOM % 6)) in
        0) xdotool click 4 ;;
        1) xdotool click 5 ;;
        2) xdotool key Left Right Up Down plus minus bracketleft Home ;;
        *) xdotool mousemove $(place) mousedown 1 mousemove $(place) mousemove $(place) mouseup 1 ;;
      esac
      ps -o rss= -p $player >> memory
    done
    kill -INT $player
    wait $player
    """

  @Test("both eyes look the same way in every frame, and memory stays flat")
  func looking() async throws {
    _ = try await Program.output(
      of: virtualScreen + ["bash", "-c", Self.script], in: folder.url)
    let said = try String(contentsOf: URL(filePath: folder.path("said")), encoding: .utf8)
    let views = said.split(separator: "\n").filter { $0.contains("spherical-view") }
    #expect(views.count > Self.length, "\(said.suffix(2000))")
    // What `compare` says where its two inputs differ.
    #expect(!said.contains("delta"))
    #expect(!said.contains("ERROR") && !said.contains("CRITICAL"), "\(said.suffix(2000))")
    let memory = try String(contentsOf: URL(filePath: folder.path("memory")), encoding: .utf8)
      .split(separator: "\n").compactMap { Int($0.filter(\.isNumber)) }
    let early = try #require(memory.dropFirst(memory.count / 10).first)
    let late = try #require(memory.last)
    // In KiB.
    #expect(late < early + 8192, "\(early) KiB, then \(late)")
    print(
      "looking: \(views.count) views, \(memory.count) acts, memory \(early) to \(late) KiB")
  }
}

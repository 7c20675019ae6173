// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestElements
import TestKit
import Testing

/// Every element under every hostile act: the expected result is in `HostileAct.seen`. A critical
/// message ends the tests; a pad or element that leaks, a thread that does not come back or a
/// pipeline that does not stop fails the cell.
struct HostileActTests {
  struct Cell: Sendable, CustomTestStringConvertible {
    let act: HostileAct
    let element: String
    let seen: Seen

    var testDescription: String { "\(act.rawValue): \(element)" }
  }

  static let cells = HostileAct.allCases.flatMap { act in
    act.seen.sorted { $0.key < $1.key }.map { Cell(act: act, element: $0.key, seen: $0.value) }
  }

  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  @Test("requirements of every element", .tags(.long), arguments: cells)
  func stands(cell: Cell) async throws {
    let alive: Awaited<Int>
    do {
      let actor = try await HostileActor.make(cell.element, folder)
      alive = try await perform(cell, by: actor)
    }
    try await alive.wait(for: "the end of the element and of its pads") { $0 == 0 }
  }

  private func perform(_ cell: Cell, by actor: HostileActor) async throws -> Awaited<Int> {
    switch cell.act {
    case .fourAtOnce:
      return try await withThrowingTaskGroup(of: Awaited<Int>.self) { group in
        for _ in 0..<4 {
          let one = try await HostileActor.make(cell.element, folder)
          group.addTask { try await play(cell, one, Stage(one, sink: one.sink)) }
        }
        let counts = try await group.reduce(into: [Awaited<Int>]()) { $0.append($1) }
        for count in counts {
          try await count.wait(for: "the end of an element and of its pads") { $0 == 0 }
        }
        return Awaited(0)
      }
    case .raisedRank:
      let ranks = HighRanks()
      defer { withExtendedLifetime(ranks) {} }
      return try await play(cell, actor, Stage(actor, sink: actor.sink))
    case .noVideoMeta:
      let plain = try Stage(actor, sink: actor.sink)
      let referring = try Stage(actor, sink: actor.sink, takesReferences: true)
      _ = try await play(cell, actor, referring)
      let alive = try await play(cell, actor, plain)
      try expectTight(plain)
      try expectSamePixels(plain, referring)
      return alive
    case .failedStart:
      let stage = try Stage(actor, sink: actor.sink)
      let broken = try Element("filesrc", name: "broken")
      broken.set("location", "/nowhere/nothing")
      try stage.pipeline.add(broken)
      #expect(!stage.pipeline.setState(.paused))
      try await stage.stop()
      gst_bin_remove(
        UnsafeMutableRawPointer(stage.pipeline.pointer).assumingMemoryBound(to: GstBin.self),
        broken.pointer)
      return try await play(cell, actor, stage)
    case .upAndDown:
      let stage = try Stage(actor, sink: actor.sink)
      var dice = Dice(1)
      for round in 0..<20 {
        #expect(stage.pipeline.play())
        if !actor.inputs.isEmpty { stage.feed(actor.scripts(nil, on: stage)) }
        usleep(UInt32(dice.next(below: 4000)))
        stage.pipeline.setState(round % 2 == 0 ? .ready : .paused)
        try await stage.stop()
        try await stage.waitForFeeds()
      }
      for tap in stage.outputs.values { tap.forget() }
      return try await play(cell, actor, stage)
    default: return try await play(cell, actor, Stage(actor, sink: actor.sink))
    }
  }

  /// Plays the act's script, and compares what is seen.
  private func play(
    _ cell: Cell, _ actor: HostileActor, _ stage: Stage
  ) async throws -> Awaited<Int> {
    let outcome = try await stage.play(actor.scripts(cell.act, on: stage))
    let told = outcome.failure.map { "\($0)" } ?? "no error"
    switch cell.seen {
    case .pictures(let count):
      #expect(outcome.failure == nil, "\(told)")
      #expect(!stage.outputs.isEmpty)
      for (pad, found) in try pictures(stage, actor) {
        #expect(found == count, "\(pad)")
      }
    case .end: #expect(outcome.failure == nil, "\(told)")
    case .failure(let word), .endOrFailure(let word):
      if case .endOrFailure = cell.seen, outcome.failure == nil { break }
      // A bin's parts post for themselves.
      let posting = cell.element == "mvhevcsbsenc" ? ["sbssplit", "mvhevcenc"] : ["it"]
      #expect(posting.contains { outcome.failure?.element.hasPrefix($0) ?? false }, "\(told)")
      #expect(outcome.failure?.message.lowercased().contains(word) == true, "\(told)")
    case .flow(let flow):
      #expect(outcome.failure == nil, "\(told)")
      #expect(outcome.flows.values.contains { $0.last == flow }, "\(outcome.flows)")
    }
    try expectTraces(of: cell, on: stage, actor)
    return stage.alive
  }

  /// What an act leaves besides pictures.
  private func expectTraces(of cell: Cell, on stage: Stage, _ actor: HostileActor) throws {
    let seeks = stage.upstreamEvents.filter { $0.type == GST_EVENT_SEEK }
    switch (cell.act, cell.element) {
    // A file that is being written; a source of frames; an upstream that cannot seek.
    case (.seek, "mvhevcmux"), (.seek, "stereotestsrc"), (.seek, "mvhevcenc"),
      (.seek, "mvhevcsbsenc"), (.seek, "stereopack"):
      #expect(seeks.isEmpty)
    case (.seek, "mvhevcdemux"), (.seek, "mvhevcautodemux"):
      #expect(seeks.allSatisfy { $0.seek?.format == .bytes })
    case (.seek, _): #expect(!seeks.isEmpty, "Nobody upstream hears of the seek.")
    case (.lateTag, "mvhevcmux"):
      let texts = try MovieFile(actor.file).movie.metadata.map { $0.value.string }
      #expect(texts.contains(HostileActor.title))
    case (.lateTag, _):
      for (pad, tap) in stage.outputs {
        let titles = tap.events.compactMap { $0.tags?.string(GST_TAG_TITLE) }
        #expect(titles.contains(HostileActor.title), "\(pad)")
      }
    default: break
    }
  }

  /// How many pictures each source pad gave, or are in the file.
  private func pictures(_ stage: Stage, _ actor: HostileActor) throws -> [String: Int] {
    guard actor.sink == "filesink" else { return stage.outputs.mapValues(\.buffers.count) }
    return ["file": try MovieFile(actor.file).video().samples.count]
  }

  /// Raw frames lie as their caps alone say.
  private func expectTight(_ stage: Stage) throws {
    for passed in stage.outputs.values.flatMap(\.buffers) {
      guard passed.caps.mediaType == "video/x-raw", let info = VideoInfo(passed.caps) else {
        continue
      }
      #expect(passed.buffer.size == info.size)
      if let layout = passed.buffer.videoLayout {
        #expect(layout.strides == VideoLayout(info).strides)
        #expect(layout.offsets == VideoLayout(info).offsets)
      }
    }
  }

  private func expectSamePixels(_ one: Stage, _ other: Stage) throws {
    for (pad, tap) in one.outputs {
      guard tap.buffers.allSatisfy({ $0.caps.mediaType == "video/x-raw" }) else { continue }
      let pixels = try other.outputs[pad]?.buffers.prefix(HostileActor.pictures).map {
        try $0.pixels()
      }
      #expect(
        try tap.buffers.prefix(HostileActor.pictures).map { try $0.pixels() } == pixels, "\(pad)")
    }
  }
}

/// The project's elements above all others, as long as this lives.
private final class HighRanks {
  private let ranks: [(feature: OpaquePointer, rank: guint)]

  init() {
    ranks = PluginTests.elements.compactMap { name in
      guard let factory = gst_element_factory_find(name) else { return nil }
      let rank = gst_plugin_feature_get_rank(factory)
      gst_plugin_feature_set_rank(factory, GST_RANK_PRIMARY.rawValue + 1000)
      return (factory, rank)
    }
  }

  deinit {
    for (feature, rank) in ranks {
      gst_plugin_feature_set_rank(feature, rank)
      gst_object_unref(UnsafeMutableRawPointer(feature))
    }
  }
}

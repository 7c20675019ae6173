// SPDX-License-Identifier: MPL-2.0

public import HEVC

/// H.265 without a container whose access units come one by one, or as a byte stream, and what
/// came beside it.
public struct ElementaryStreamSource: Sendable {
  public let framing: NALUnitFraming
  /// NAL units of the decoder configuration records; empty for a byte stream, which has them
  /// inside.
  public let parameterSets: [[UInt8]]
  /// Frames a second, where something beside the stream says it.
  public var frameRate: Ratio?

  /// A byte stream, whose access units are found in it.
  public init(frameRate: Ratio? = nil) {
    framing = .annexB
    parameterSets = []
    self.frameRate = frameRate
  }

  /// A stream with length prefixes, of which each chunk is an access unit.
  ///
  /// - Parameters:
  ///   - record: the content of `hvcC`, which is `codec_data` in GStreamer.
  ///   - layered: the content of `lhvC`.
  public init(
    record: [UInt8], layered: [UInt8]? = nil, frameRate: Ratio? = nil
  ) throws(MoviePlayerError) {
    do {
      let configuration = try StreamConfiguration(hvcC: record, lhvC: layered)
      if let error = configuration.layeredRecordError { throw error }
      framing = configuration.framing
      parameterSets = configuration.parameterSets
    } catch {
      throw .configuration("\(error)")
    }
    self.frameRate = frameRate
  }

  /// Whether the records alone say that the stream has one layer only.
  public var isSingleLayer: Bool {
    let sequences = parameterSets.filter {
      NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
    }
    return !sequences.isEmpty
      && sequences.allSatisfy { (try? VideoParameterSet(nalUnit: $0))?.maxLayersMinus1 == 0 }
  }
}

/// What a source says of a chunk of an elementary stream.
public struct ChunkTimes: Hashable, Sendable {
  /// When what begins in it is shown, as a timestamp of the source's segment; nil where nothing
  /// says that.
  public var presentationTime: Nanoseconds?
  /// When it is decoded; nil where nothing says that.
  public var decodeTime: Nanoseconds?
  /// How long it is shown; nil where nothing says that.
  public var duration: Nanoseconds?
  /// Those of the access unit, where the chunk is one.
  public var flags: Sample.Flags = []

  public init() {}
}

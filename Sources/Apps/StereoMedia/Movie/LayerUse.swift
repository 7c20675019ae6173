// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import HEVC
internal import ISOBMFF

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The pictures of a movie's dependent layer that use inter-layer prediction.
package enum InterLayerPredictionUse: String, Sendable {
  case none
  case keyframes
  /// Other pictures as well, which is what most MV-HEVC encoders produce.
  case any = "any picture"

  /// Number of keyframes that are examined, and of pictures after the first keyframe.
  private static let pictureLimit = 16
  /// Maximum size of a picture that is examined, in bytes; decoders accept no larger ones.
  private static let sizeLimit: UInt64 = 1 << 26

  /// Reads the slice headers of the first keyframes and of the pictures that follow the first one.
  ///
  /// - Returns: nil if the movie is not layered or none of these pictures can be read.
  /// - Throws: a ``StereoMediaError`` if the file cannot be read.
  package static func read(_ movie: StereoMovie) async throws -> InterLayerPredictionUse? {
    try await Blocking.run { try InterLayerPredictionUse(movie) }
  }

  private init?(_ movie: StereoMovie) throws {
    let facts = movie.facts
    guard facts.stereo == .layered, let track = facts.video, let hvcC = facts.entry?.hvcC,
      let configuration = try? StreamConfiguration(hvcC: hvcC, lhvC: facts.entry?.lhvC)
    else { return nil }
    let file = open(try movie.source.currentPath(), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(movie.path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var unweaver = Unweaver()
    try? unweaver.add(
      parameterSets: configuration.parameterSets.filter {
        NALUnitHeader($0.span.bytes)?.type.isParameterSet ?? false
      })

    /// Returns nil if the picture cannot be read.
    func isPredicted(_ sample: SampleRecord) -> Bool? {
      guard UInt64(sample.size) <= min(Self.sizeLimit, facts.reader.size) else { return nil }
      var bytes = [UInt8](repeating: 0, count: Int(sample.size))
      guard pread(file, &bytes, bytes.count, off_t(clamping: sample.offset)) == bytes.count,
        let units = try? configuration.framing.nalUnits(in: bytes.span.bytes)
      else { return nil }
      if sample.isSync { unweaver.reset() }
      do throws(FlattenError) {
        _ = try unweaver.unweave(bytes.span.bytes, nalUnits: units)
        return false
      } catch .interLayerPrediction {
        return true
      } catch {
        return nil
      }
    }

    var (keyframes, others): ([Bool], [Bool]) = ([], [])
    // Unreadable keyframes count too: a hostile sample table may list the same bytes many times.
    var keyframesLeft = Self.pictureLimit
    for index in 0..<min(track.samples.count, LayerSizes.frameLimit) {
      guard keyframesLeft > 0, let sample = track.samples.sample(at: index) else { break }
      guard sample.isSync || index <= Self.pictureLimit else { continue }
      if sample.isSync { keyframesLeft -= 1 }
      guard let isPredicted = isPredicted(sample) else { continue }
      if sample.isSync { keyframes.append(isPredicted) } else { others.append(isPredicted) }
    }
    guard !keyframes.isEmpty else { return nil }
    self = others.contains(true) ? .any : keyframes.contains(true) ? .keyframes : .none
  }
}

/// The sizes of a layered movie's layers, frame by frame.
package struct LayerSizes: Sendable {
  /// The bytes of the base layer in each frame, in presentation order, as in ``FrameIndex``.
  package let base: [Int]

  /// Maximum number of frames; longer movies are not analysed, as each frame takes several reads.
  package static let frameLimit = 50_000

  /// Reads the headers of all NAL units.
  ///
  /// - Returns: nil if the movie is not layered or has too many frames or NAL units.
  /// - Throws: a ``StereoMediaError`` if the file cannot be read.
  package static func read(_ movie: StereoMovie) async throws -> LayerSizes? {
    try await Blocking.run { try LayerSizes(movie) }
  }

  private init?(_ movie: StereoMovie) throws {
    let facts = movie.facts
    guard facts.stereo == .layered, let track = facts.video,
      let record = facts.entry?.hvcC.flatMap({ try? HEVCDecoderConfigurationRecord(bytes: $0) }),
      facts.frames.count <= Self.frameLimit
    else { return nil }
    let file = open(try movie.source.currentPath(), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(movie.path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var budget = Self.unitLimit
    base = facts.frames.indices.map { index in
      guard let sample = track.samples.sample(at: facts.frames.sample(of: index)) else { return 0 }
      return Self.baseSize(
        file, sample.offset, Int(sample.size), prefix: record.lengthSize, &budget)
    }
    guard budget > 0 else { return nil }
  }

  /// Maximum number of NAL units: a hostile sample table may list the same bytes many times.
  private static let unitLimit = 2_000_000

  /// Returns the bytes that an access unit's NAL units with `nuh_layer_id` 0 take, including their
  /// length fields.
  ///
  /// - Parameter prefix: the size of a length field in bytes.
  private static func baseSize(
    _ file: Int32, _ offset: UInt64, _ size: Int, prefix: Int, _ budget: inout Int
  ) -> Int {
    var (place, sum) = (0, 0)
    var head = [UInt8](repeating: 0, count: prefix + 2)
    while place + head.count <= size, budget > 0 {
      budget -= 1
      let count = pread(file, &head, head.count, off_t(clamping: offset &+ UInt64(place)))
      guard count == head.count else { break }
      let length = head.prefix(prefix).reduce(0) { $0 << 8 | Int($1) }
      guard length >= 2, length <= size - place - prefix else { break }
      // nuh_layer_id follows forbidden_zero_bit and the 6 bits of nal_unit_type (H.265 7.3.1.2).
      if head[prefix] & 1 == 0, head[prefix + 1] >> 3 == 0 { sum += prefix + length }
      place += prefix + length
    }
    return sum
  }
}

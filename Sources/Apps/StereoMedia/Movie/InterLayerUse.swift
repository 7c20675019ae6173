// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import HEVC
internal import ISOBMFF

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Which pictures of a layered movie's dependent eye are predicted from the base eye's.
package enum InterLayerUse: String, Sendable {
  case none
  case keyframes
  /// Others as well, as most encoders of MV-HEVC do it.
  case any = "any picture"

  /// How many keyframes are looked at from the start, and how many pictures behind the first.
  private static let pictureLimit = 16
  /// More bytes than any picture has that a decoder takes.
  private static let sizeLimit: UInt64 = 1 << 26

  /// Reads the slice headers of the first keyframes, and of the pictures behind the first.
  ///
  /// - Returns: nil where the movie is not layered, or none of these pictures can be read.
  /// - Throws: a ``StereoMediaError`` where the file cannot be read.
  package static func read(_ movie: StereoMovie) async throws -> InterLayerUse? {
    try await Blocking.run { try InterLayerUse(movie) }
  }

  private init?(_ movie: StereoMovie) throws {
    let facts = movie.facts
    guard facts.stereo == .layered, let track = facts.video, let hvcC = facts.entry?.hvcC,
      let configuration = try? StreamConfiguration(hvcC: hvcC, lhvC: facts.entry?.lhvC)
    else { return nil }
    let file = open(movie.source.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(movie.path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var unweaver = Unweaver()
    try? unweaver.add(
      parameterSets: configuration.parameterSets.filter {
        NALUnitHeader($0.span.bytes)?.type.isParameterSet ?? false
      })

    /// Nil where the picture cannot be read.
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
    // Damaged keyframes count, too: tables of hostile movies name the same bytes many times.
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

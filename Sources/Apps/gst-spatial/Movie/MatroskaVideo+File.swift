// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import ISOBMFF
internal import StereoVideo

extension MatroskaVideo {
  /// Reads a file; nil where it cannot be read, or is no Matroska or WebM file with video.
  init?(path: String) {
    // A pipe without a writer would keep it waiting.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(fileSize: UInt64(clamping: status.st_size)) { range in
      var bytes = [UInt8](repeating: 0, count: Int(clamping: range.count))
      let count = pread(file, &bytes, bytes.count, off_t(clamping: range.lowerBound))
      return Array(bytes.prefix(max(0, count)))
    }
  }

  /// What a conversion does not take over, because GStreamer's demuxer does not hand it on.
  var losses: [ImmersiveLoss] {
    guard let immersive else { return projection.map { _ in [.projection(.mesh)] } ?? [] }
    var losses: [ImmersiveLoss] = []
    if immersive.projection.kind == nil {
      if case .known(.equirectangular(let bounds)) = immersive.projection {
        losses.append(.bounds(bounds))
      } else {
        losses.append(.projection(immersive.projection))
      }
    }
    if immersive.pose != .front { losses.append(.pose(immersive.pose)) }
    return losses
  }
}

// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

extension MultivariantPlaylist {
  /// Lists these renditions: stereo before mono, then by falling bit rate.
  init<Payload>(_ tracks: [RenditionTrack<Payload>], path: String) {
    self.init()
    for track in tracks {
      let rendition = track.rendition
      for tag in rendition.key?.sessionKeyTags ?? [] where !sessionKeyTags.contains(tag) {
        sessionKeyTags.append(tag)
      }
      let address = FileNames.address(of: track.names.playlist, from: path)
      switch (rendition.content, rendition.track.sampleEntry) {
      case (.video(let video), .video(let entry)):
        var variant = Variant(
          address, bandwidth: track.bitRate.peak, averageBandwidth: track.bitRate.average,
          codecs: rendition.codecs, width: Int(entry.width), height: Int(entry.height),
          range: video.range, layouts: track.layouts)
        variant.frameRate = video.frameRate
        variants.append(variant)
        if let iFrames = track.iFrames, !iFrames.segments.isEmpty {
          self.iFrames.append(
            variant.iFrames(
              FileNames.address(of: track.names.iFramePlaylist, from: path),
              bandwidth: track.iFrameBitRate.peak,
              averageBandwidth: track.iFrameBitRate.average))
        }
      case (.audio(let audio), .audio(let entry)):
        self.audio.append(
          AudioRendition(
            address, groupID: rendition.codecs, name: audio.name, language: audio.language,
            isDefault: audio.isDefault, channelCount: Int(entry.channelCount),
            codecs: rendition.codecs, bandwidth: track.bitRate.peak,
            averageBandwidth: track.bitRate.average))
      case (.subtitles(let subtitles), _):
        self.subtitles.append(
          SubtitleRendition(
            address, name: subtitles.name, language: subtitles.language,
            isDefault: subtitles.isDefault, isForced: subtitles.isForced))
      default: break
      }
    }
    // Swift's sort is stable: equal variants keep their order.
    variants.sort { one, other in
      let isStereo = [one, other].map { $0.layouts.contains(where: \.isStereo) }
      return isStereo[0] != isStereo[1] ? isStereo[0] : one.bandwidth > other.bandwidth
    }
  }

  /// Whether some variants are only for players that support `REQ-VIDEO-LAYOUT`.
  var hasLayouts: Bool { withoutLayouts != self }
}

extension RenditionTrack {
  /// Those that its listed pictures have by turns, the one that is shown for longest first.
  fileprivate var layouts: [RenditionLayout] {
    var lengths: [(layout: RenditionLayout, seconds: Double)] = []
    func add(_ rendition: Rendition, _ seconds: Double) {
      guard case .video(let video) = rendition.content else { return }
      if let index = lengths.firstIndex(where: { $0.layout == video.layout }) {
        lengths[index].seconds += seconds
      } else {
        lengths.append((video.layout, seconds))
      }
    }
    for period in periods where !period.timeline.isEmpty {
      let length = period.timeline.reduce(0) { $0 + Double($1.duration) }
      add(period.rendition, length / Double(period.rendition.track.timescale))
    }
    add(rendition, 0)
    // Swift's sort is stable: equal layouts keep their order.
    return lengths.sorted { $0.seconds > $1.seconds }.map(\.layout)
  }
}

extension FileNames {
  /// Returns the URI template of numbered files for a DASH manifest, with `$Number%05d$` for the
  /// number.
  static func template(_ template: String, rendition: String, from other: String) -> String {
    // Comparing the names for two numbers shows the position and width of the number.
    let (one, two) = (UInt64(7), UInt64(8))
    let first = address(of: fill(template, rendition: rendition, number: one), from: other)
    let second = address(of: fill(template, rendition: rendition, number: two), from: other)
    guard first.count == second.count,
      let place = zip(first.indices, zip(first, second)).first(where: { $1.0 != $1.1 })?.0
    else { return first }
    let zeros = first[..<place].reversed().prefix { $0 == "0" }.count
    let start = first.index(place, offsetBy: -zeros)
    let number = zeros == 0 ? "$Number$" : "$Number%0\(zeros + 1)d$"
    return "\(first[..<start])\(number)\(first[first.index(after: place)...])"
  }

  /// Returns the path of the playlist for players without layout support, such as `main-2d.m3u8`.
  static func flat(_ path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return path + "-2d" }
    return "\(path[..<dot])-2d\(path[dot...])"
  }
}

// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import HEVC
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

extension MovieFacts {
  /// Returns a description, one property per line.
  ///
  /// - Parameters:
  ///   - times: whether to list the times of all frames.
  ///   - prediction: the use of inter-layer prediction; nil if it is unknown.
  func text(times: Bool, prediction: InterLayerPredictionUse?) -> String {
    rows(times: times, prediction: prediction).map { title, value in
      title + String(repeating: " ", count: max(1, 22 - title.count)) + value + "\n"
    }.joined()
  }

  /// Returns the properties with their values, which have units.
  ///
  /// - Parameters:
  ///   - times: whether to list the times of all frames.
  ///   - prediction: the use of inter-layer prediction; nil if it is unknown.
  func rows(
    times: Bool = false, prediction: InterLayerPredictionUse? = nil
  ) -> [(title: String, value: String)] {
    var rows: [(title: String, value: String)] = []
    func add(_ title: String, _ value: String?) {
      if let value { rows.append((title, value)) }
    }
    let verdict = SpatialVerdict(self)
    add("plays", playing(verdict))
    for item in verdict.missing where !verdict.isImmersive || stereo == .layered {
      add("  missing", item)
    }
    for item in verdict.advice { add("  recommended", item) }
    add("container", container)
    add("duration", reader.movie.seconds.map { "\(NumberFormat.decimal($0, 3)) s" })
    for track in reader.movie.tracks { add("track \(track.id.rawValue)", track.summary) }
    for track in otherTracks { add("other track", track.summary) }
    add("stereo", stereoText)
    if let entry {
      add(
        hasEyesOfTheirOwn ? "one eye" : "frame",
        "\(eyeSize(entry))\(shape(entry)), \(frameRateText)")
      add("coding", coding(entry))
    }
    if stereo == .layered {
      add("base layer", baseEye.map { "\($0.rawValue) eye" })
      for layer in layers?.layers ?? [] {
        let eye = layer.eye.map { ", \($0.rawValue) eye" } ?? ""
        add("layer \(layer.nuhLayerID)", "view \(layer.viewID)\(eye)")
      }
      add("inter-layer prediction", prediction?.rawValue)
    }
    if stereo == .twoViews {
      add(
        "base view",
        baseEye.map { "\($0.rawValue) eye" } ?? "not said which eye; taken for the left one")
    }
    add("hero eye", metadata.heroEye?.rawValue)
    add(
      "field of view",
      metadata.horizontalFieldOfView.map { "\(NumberFormat.short($0.degrees, 3)) degrees" })
    add(
      "baseline", metadata.baseline.map { "\(NumberFormat.short($0.millimetres, 3)) mm" })
    add(
      "disparity adjustment",
      metadata.disparityAdjustment.map {
        "\(NumberFormat.short($0.pictureWidths, 4)) picture widths"
      })
    add("projection", projection)
    for (title, value) in immersiveLines { add(title, value) }
    for warning in warnings { add("warning", warning) }
    if times {
      for (index, frame) in frames.enumerated() {
        add("frame \(index)", "\(NumberFormat.decimal(frame.time.seconds, 6)) s")
      }
    }
    return rows
  }

  var json: JSON {
    let verdict = SpatialVerdict(self)
    return [
      "container": JSON(containerName), "fragmented": .bool(reader.movie.isFragmented),
      "bytes": JSON(reader.size), "duration": JSON(reader.movie.seconds),
      "tracks": .array(reader.movie.tracks.map(\.json)),
      "other-tracks": .array(otherTracks.map(\.json)),
      "stereo": .string(stereoName),
      "packing": packingJSON,
      "width": JSON(entry?.width), "height": JSON(entry?.height),
      "frames": JSON(video?.samples.count), "frame-rate": JSON(frameRate),
      "base-eye": JSON(baseEye?.rawValue),
      "layers": .array(
        (layers?.layers ?? []).map {
          [
            "nuh-layer-id": JSON($0.nuhLayerID), "view-id": JSON($0.viewID),
            "eye": JSON($0.eye?.rawValue),
          ]
        }),
      "hero-eye": JSON(metadata.heroEye?.rawValue),
      "horizontal-field-of-view": JSON(metadata.horizontalFieldOfView?.degrees),
      "baseline": JSON(metadata.baseline?.millimetres),
      "disparity-adjustment": JSON(metadata.disparityAdjustment?.pictureWidths),
      "projection": JSON(projection),
      "projection-said-in": .array(projectionSources.map { .string($0) }),
      "bounds": immersiveJSON(bounds?.parts),
      "pose": immersiveJSON(immersive?.pose.angles),
      "initial-view": immersiveJSON(immersive?.initialView.angles),
      "apple-spatial": .bool(verdict.isSpatial),
      "apple-immersive": .bool(verdict.isImmersive),
      "missing": .array(verdict.missing.map { .string($0) }),
      "advisable": .array(verdict.advice.map { .string($0) }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }

  private var containerName: String {
    switch copiedFrom {
    case .byteStream, .h264ByteStream: return "none"
    case let format?: return format.rawValue
    case nil: break
    }
    return reader.fileType?.isQuickTime ?? true ? "mov" : "mp4"
  }

  private var container: String {
    switch copiedFrom {
    case .byteStream, .h264ByteStream: return "none: an \(copiedFrom?.rawValue ?? "")"
    case let format?: return format.rawValue
    case nil: break
    }
    // That of QuickTime says nothing more.
    let brand = reader.fileType.map { $0.isQuickTime ? "" : " (\($0.majorBrand))" } ?? ""
    let name = containerName == "mov" ? "QuickTime" : "MP4"
    return name + brand + (reader.movie.isFragmented ? ", fragmented" : "") + ", "
      + NumberFormat.size(Int(clamping: reader.size))
  }

  var stereoName: String {
    switch stereo {
    case .layered: "mv-hevc"
    case .twoViews: "mvc"
    case .packed(let layout):
      switch layout.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "frame-by-frame"
      }
    case .no: "no"
    }
  }

  private var packingJSON: JSON {
    guard case .packed(let layout) = stereo else { return .null }
    return [
      "right-view-first": .bool(layout.rightViewFirst), "half-aspect": .bool(layout.halfAspect),
    ]
  }

  private var stereoText: String {
    switch stereo {
    case .layered: "MV-HEVC: a layer for each eye"
    case .twoViews:
      "H.264 MVC: a view for each eye; 'gst-spatial convert' makes a spatial movie of it"
    case .packed(let layout):
      "\(isGuessed ? "looks like " : "")\(stereoName), the "
        + "\(layout.rightViewFirst ? "right" : "left") eye first"
        + (layout.halfAspect ? ", each squeezed to half" : "")
        + (isGuessed ? "; 'gst-spatial convert' makes a spatial movie of it" : "")
    case .no: reasonForOneEye
    }
  }

  /// Whether the layout follows from the name, the shape or the pictures of the movie.
  private var isGuessed: Bool {
    if case .success(let layout) = recognition { !layout.notes.isEmpty } else { false }
  }

  private var reasonForOneEye: String {
    switch recognition {
    case .success, .failure(.onePicture), nil: "no"
    case .failure(.unreadable), .failure(.noVideo): "unknown: the pictures cannot be decoded"
    case .failure(.unclear): "no, as far as its pictures tell"
    case .failure(.inseparable(let words)): "\(words), which cannot be separated"
    case .failure(.unsupportedProjection(let words)): "unknown: the pictures are \(words)"
    case .failure(.severalTracks(let count)):
      "\(count) video tracks of the same size, which may be eyes"
    }
  }

  private func eyeSize(_ entry: VisualSampleEntry) -> String { "\(entry.width)x\(entry.height)" }

  private var frameRateText: String {
    frameRate.map { rate in
      // Matroska's clock of milliseconds makes 24.003 of 24 in a short movie.
      let usual = [24_000 / 1001.0, 24, 25, 30_000 / 1001.0, 30, 50, 60_000 / 1001.0, 60]
      let named = usual.first { abs($0 - rate) < 0.005 * $0 / 24 } ?? rate
      return "\(NumberFormat.short(named, 3)) frames/s"
    } ?? "unknown frame rate"
  }

  /// Where the movie is shown in three dimensions, and where it is not; see the table in README.md.
  private func playing(_ verdict: SpatialVerdict) -> String {
    let base = stereo == .twoViews ? "base view's eye" : "base layer's eye"
    let others = "the \(baseEye.map { "\($0.rawValue) eye" } ?? base)"
    let headsets = "Apple Vision Pro"
    switch stereo {
    case .layered where verdict.isImmersive && verdict.isSpatial:
      return "around the viewer and in 3D on \(headsets) (visionOS 26) and Android XR; elsewhere, "
        + others
    case .layered where verdict.isSpatial:
      return "in 3D on \(headsets) and Android XR, and as a spatial video on iPhone 15 Pro and "
        + "later; elsewhere, " + others
    case .layered: return "as one eye, \(others), on Apple devices, which need more"
    case .twoViews: return "in 3D in players for 3D discs; elsewhere, " + others
    case .packed:
      return "in 3D in players that split \(stereoName) frames, such as those of Meta Quest; "
        + "elsewhere, as two pictures"
    case .no where verdict.isImmersive:
      return "around the viewer, with one eye, on \(headsets) (visionOS 26)"
    case .no where immersive != nil:
      return "around the viewer in players that know 'sv3d', flat on Apple devices"
    case .no where entry == nil: return "without pictures: there is no video in it"
    case .no where entry?.codec == "encv": return "where its key is known: it is encrypted"
    case .no where entry?.hvcC != nil || ["avc1", "avc3"].contains(entry?.codec):
      return "as it is, everywhere: nothing says that it has two eyes"
    case .no: return "in players of its coding: nothing says that it has two eyes"
    }
  }

  /// The shape in which a frame is shown, if its pixels are not square.
  private func shape(_ entry: VisualSampleEntry) -> String {
    guard let pixels = entry.pixelAspectRatio,
      pixels.horizontalSpacing != pixels.verticalSpacing, pixels.verticalSpacing > 0
    else { return "" }
    let stretch = Double(pixels.horizontalSpacing) / Double(pixels.verticalSpacing)
    // Nothing is shown smaller than it is.
    let width = Double(entry.width) * max(stretch, 1)
    let height = Double(entry.height) / min(stretch, 1)
    guard width < 1e6, height < 1e6 else { return "" }
    return " shown as \(Int(width.rounded()))x\(Int(height.rounded())) (pixels "
      + "\(pixels.horizontalSpacing):\(pixels.verticalSpacing))"
  }

  /// The coding in the words of the specifications of players, as far as the record says.
  private func coding(_ entry: VisualSampleEntry) -> String {
    var facts: [String] = []
    if let record = entry.hvcC.flatMap({ try? HEVCDecoderConfigurationRecord(bytes: $0) }) {
      let profile = record.profileTierLevel.profile?.profileIDC ?? 0
      let name = [1: " Main", 2: " Main 10", 3: " Main Still Picture", 4: " range extensions"]
      facts.append("H.265\(name[profile] ?? "")")
      let level = Double(record.profileTierLevel.levelIDC) / 30
      facts.append("level \(NumberFormat.decimal(level, 1))")
      facts.append("\(record.bitDepthLuma) bit")
    } else if let record = (entry.configuration.first { $0.type == "avcC" })?.payload ?? entry.mvcC,
      record.count > 3
    {
      let name: [UInt8: String] = [
        66: " Baseline", 77: " Main", 100: " High", 110: " High 10", 118: " Multiview High",
        128: " Stereo High",
      ]
      facts.append("H.264\(name[record[1]] ?? "")")
      facts.append("level \(NumberFormat.decimal(Double(record[3]) / 10, 1))")
    } else {
      facts.append("'\(entry.codec)'")
    }
    if let transfer = [16: "HDR (PQ)", 18: "HDR (HLG)"][entry.colour?.transferCharacteristics ?? 0]
    {
      facts.append(transfer)
    }
    let bytes = frames.reduce(0) { $0 + $1.byteCount }
    if let seconds = video?.seconds, seconds > 0 {
      facts.append("\(NumberFormat.decimal(Double(bytes) * 8 / seconds / 1e6, 2)) Mbit/s")
    }
    return facts.joined(separator: ", ")
  }

  private var projection: String? {
    metadata.projection?.rawValue ?? immersiveName
      ?? entry?.extendedUsage?.projectionKind.map { "\($0)" }
  }
}

extension Track {
  fileprivate var summary: String {
    let time = seconds.map { ", \(NumberFormat.decimal($0, 3)) s" } ?? ""
    return "\(kind), \(codec), \(samples.count) samples\(time)"
      + (language == "und" ? "" : ", \(language)")
  }

  private var kind: String {
    switch handlerType {
    case "vide": "video"
    case "soun": "audio"
    case "sbtl": "subtitles"
    default: "\(handlerType)"
    }
  }

  private var codec: String {
    switch sampleEntries.first {
    case .video(let entry): "\(entry.codec)"
    case .audio(let entry): "\(entry.type(in: .quickTime)) \(entry.sampleRate) Hz"
    case .other(let entry): "\(entry.type)"
    case nil: "unknown"
    }
  }

  fileprivate var json: JSON {
    [
      "id": JSON(id.rawValue), "kind": .string(kind), "codec": .string(codec),
      "samples": JSON(samples.count), "duration": JSON(seconds), "language": .string(language),
    ]
  }
}

extension UncopiedTrack {
  fileprivate var summary: String {
    [kind, codec == kind ? nil : codec, language].compactMap(\.self).joined(separator: ", ")
  }

  fileprivate var json: JSON {
    ["kind": .string(kind), "codec": .string(codec), "language": .string(language ?? "und")]
  }
}

/// The projection of the pictures.
extension MovieFacts {
  var immersive: ImmersiveMetadata? { video?.immersiveMetadata }

  /// The name of a projection that is missing in `ProjectionKind`.
  var immersiveName: String? {
    switch immersive?.projection {
    case .known(.equirectangular): "a part of the sphere, equirectangular"
    case .known(.cubemap): "cubemap"
    case .known(.fisheye): "fisheye"
    case .mesh: "a mesh"
    default: nil
    }
  }

  /// The bounds of a part of the sphere that is no whole or half sphere.
  var bounds: SphereBounds? {
    guard immersive?.projection.kind == nil,
      case .known(.equirectangular(let bounds)) = immersive?.projection
    else { return nil }
    return bounds
  }

  /// The names of the metadata that specify the projection.
  var projectionSources: [String] {
    guard let entry, let video else { return [] }
    let isInUsage = entry.extendedUsage?.immersiveMetadata(width: 1, height: 1) != nil
    let isInSphere = entry.sphericalVideo?.immersiveMetadata(nil) != nil
    let isInText = video.sphericalVideoV1?.immersiveMetadata != nil
    return [("vexu", isInUsage), ("sv3d", isInSphere), ("Spherical Video V1", isInText)]
      .filter(\.1).map(\.0)
  }

  /// Titles and values for ``text(times:prediction:)``.
  var immersiveLines: [(String, String)] {
    guard let immersive else { return [] }
    var lines: [(String, String)] = []
    if let bounds {
      let edges = zip(["top", "bottom", "left", "right"], bounds.parts)
      lines.append(
        (
          "cut off",
          edges.map { "\(NumberFormat.short($1 * 100, 2)) % at the \($0)" }.joined(
            separator: ", ")
        ))
    }
    for (title, view) in [("pose", immersive.pose), ("initial view", immersive.initialView)]
    where view != .front {
      let angles = zip(["yaw", "pitch", "roll"], view.angles)
      lines.append(
        (
          title,
          angles.map { "\($0) \(NumberFormat.short($1, 3))" }.joined(separator: ", ") + " degrees"
        ))
    }
    let sources = projectionSources.joined(separator: ", ")
    if !sources.isEmpty { lines.append(("  specified in", sources)) }
    return lines
  }

  /// Returns the numbers, or null if there are none or all are 0.
  func immersiveJSON(_ numbers: [Double]?) -> JSON {
    guard let numbers, numbers.contains(where: { $0 != 0 }) else { return .null }
    return .array(numbers.map { JSON($0) })
  }
}

extension SphereBounds {
  /// The parts cut off at the top, the bottom, the left and the right, as fractions of the sphere.
  var parts: [Double] { [topPart, bottomPart, leftPart, rightPart] }
}

extension SphereOrientation {
  var angles: [Double] { [yaw, pitch, roll] }
}

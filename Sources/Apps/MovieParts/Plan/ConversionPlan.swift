// SPDX-License-Identifier: MPL-2.0

package import PipelineFile
internal import StereoVideo

/// The plan of a conversion in parts: what each part is and how it is encoded. It is written once
/// and never changed; the key is its hash, and what was made by another plan does not count.
package struct ConversionPlan: Equatable, Sendable {
  /// The version of gst-spatial that made the plan, and which its parts need.
  package var version = ProjectVersion.current
  /// `X265_BUILD` of the libx265 that its parts need; bits of two versions are not mixed.
  package var x265: Int
  /// The movie to convert, or the left eye's.
  package var input: PlannedInput
  /// The right eye's movie, if each eye has one.
  package var rightInput: PlannedInput?
  /// The absolute path of the movie to write.
  package var output: String
  /// The ready pipeline.
  package var pipeline: String
  /// Its parameters but the inputs and the output, as `name=value`.
  package var values: [String]
  /// The creation time of the movie, in seconds since 1970, if the input has none.
  package var creationTime: Int64
  /// The number of pictures of the movie to convert.
  package var pictureCount: Int
  /// The number of the first picture of each part, rising. The first part need not begin at 0.
  package var cuts: [Int]
  /// The number of the picture after the last one that is converted.
  package var end: Int
  /// The difference of running time and stream time in nanoseconds.
  package var runningTimeShift: Int64
  /// SHA-256 of the list of the pictures' times.
  package var timesHash: String
  /// Whether all parts are measured before the first one is encoded, so that the bitrate among
  /// `values` is met over all of them (``RateShares``).
  package var isTwoPass: Bool

  package init(
    x265: Int, input: PlannedInput, rightInput: PlannedInput? = nil, output: String,
    pipeline: String, values: [String], creationTime: Int64, times: PictureTimes, cuts: [Int],
    end: Int? = nil, isTwoPass: Bool = false
  ) throws(PartError) {
    (self.x265, self.input, self.rightInput, self.output) = (x265, input, rightInput, output)
    (self.pipeline, self.values, self.creationTime) = (pipeline, values, creationTime)
    (pictureCount, self.cuts) = (times.times.count, cuts)
    self.end = end ?? times.times.count
    self.isTwoPass = isTwoPass
    runningTimeShift = times.runningTimeShift
    timesHash = try FileHash.hash(of: times.bytes)
  }

  /// Returns the pictures of a part; nil if there is no such part.
  package func pictures(ofPart number: Int) -> Range<Int>? {
    guard cuts.indices.contains(number) else { return nil }
    let end = number + 1 < cuts.count ? cuts[number + 1] : end
    return cuts[number]..<end
  }

  /// The pictures that are converted.
  package var pictures: Range<Int> { (cuts.first ?? 0)..<end }

  /// The movies to convert.
  var inputs: [PlannedInput] { [input] + [rightInput].compactMap(\.self) }

  /// The parameters of the ready pipeline that name its inputs, as `name=value`.
  var inputValues: [String] {
    guard let rightInput else { return ["input=\(input.path)"] }
    return ["left=\(input.path)", "right=\(rightInput.path)"]
  }

  /// `mov` or `mp4`: the container of the movie.
  var outputEnding: String { output.lowercased().hasSuffix(".mp4") ? "mp4" : "mov" }

  /// Whether a part of the movie is converted, not all of it.
  package var isRange: Bool { pictures != 0..<pictureCount }

  /// SHA-256 of all fields.
  package var key: String {
    get throws(PartError) { try FileHash.hash(of: Array(JSON.object(fields).line.utf8)) }
  }

  private var settings: String {
    (values + (isTwoPass ? ["--two-pass"] : [])).joined(separator: " ")
  }

  /// The name of the first field in which two plans differ, in words; nil if they are for the same
  /// movie. The time of planning does not count.
  package func difference(from other: ConversionPlan) -> String? {
    let checks: [(name: String, isSame: Bool)] = [
      ("the version of gst-spatial (\(other.version) and \(version))", version == other.version),
      ("libx265 (builds \(other.x265) and \(x265))", x265 == other.x265),
      ("the input", inputs.map(\.path) == other.inputs.map(\.path)),
      ("the contents of the input", inputs == other.inputs),
      ("the output", output == other.output), ("the pipeline", pipeline == other.pipeline),
      (
        "the settings (\(other.settings) and \(settings))",
        values == other.values && isTwoPass == other.isTwoPass
      ),
      ("the times of the pictures", timesHash == other.timesHash),
      ("the range", pictures == other.pictures),
      ("the length of the parts", cuts == other.cuts),
    ]
    return checks.first { !$0.isSame }?.name
  }
}

extension ConversionPlan {
  /// The version of the format.
  private static let format: Int64 = 1

  private static func fields(of input: PlannedInput, _ name: String) -> [(String, JSON)] {
    [
      (name, .string(input.path)), ("\(name)-size", JSON(input.identity.size)),
      ("\(name)-sample", .string(input.identity.sample)),
    ]
  }

  private var fields: [(String, JSON)] {
    [
      ("format", .integer(Self.format)), ("gst-spatial", .string(version)), ("x265", JSON(x265)),
    ] + Self.fields(of: input, "input")
      + (rightInput.map { Self.fields(of: $0, "right-input") } ?? []) + [
        ("output", .string(output)), ("pipeline", .string(pipeline)),
        ("values", .array(values.map { .string($0) })),
        ("creation-time", .integer(creationTime)), ("pictures", JSON(pictureCount)),
        ("running-time-shift", .integer(runningTimeShift)), ("times-sha256", .string(timesHash)),
        ("parts", .array(cuts.map { JSON($0) })), ("end", JSON(end)),
        ("passes", JSON(isTwoPass ? 2 : 1)),
      ]
  }

  /// The contents of `plan.json`.
  package var json: JSON {
    get throws(PartError) { .object(fields + [("key", .string(try key))]) }
  }

  /// Reads `plan.json`.
  ///
  /// - Throws: a ``PartError`` if it is damaged, or of a later version than this program knows.
  package init(parsing bytes: [UInt8], path: String) throws(PartError) {
    func damaged(_ reason: String) -> PartError {
      PartError(
        .final, "'\(path)' is damaged: \(reason)", help: "plan again, in an empty folder")
    }
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw damaged("\(error)")
    }
    guard let format = json["format"]?.whole, format >= 1 else { throw damaged("it is no plan") }
    guard format <= Self.format else {
      throw PartError(.final, "'\(path)' was made by a later version of gst-spatial")
    }
    func text(_ name: String) throws(PartError) -> String {
      guard let text = json[name]?.text, !text.utf8.contains(0) else {
        throw damaged("'\(name)' is missing")
      }
      return text
    }
    func whole(_ name: String) throws(PartError) -> Int {
      guard let number = json[name]?.whole, let whole = Int(exactly: number) else {
        throw damaged("'\(name)' is missing")
      }
      return whole
    }
    version = try text("gst-spatial")
    x265 = try whole("x265")
    func planned(_ name: String) throws(PartError) -> PlannedInput {
      PlannedInput(
        path: try text(name),
        identity: InputIdentity(
          size: try whole("\(name)-size"), sample: try text("\(name)-sample")))
    }
    (output, pipeline) = (try text("output"), try text("pipeline"))
    input = try planned("input")
    if json["right-input"] != nil { rightInput = try planned("right-input") }
    (creationTime, pictureCount) = (Int64(try whole("creation-time")), try whole("pictures"))
    (runningTimeShift, timesHash) = (
      Int64(try whole("running-time-shift")), try text("times-sha256")
    )
    guard let values = json["values"]?.items, let cuts = json["parts"]?.items else {
      throw damaged("'values' or 'parts' is missing")
    }
    self.values = values.compactMap(\.text)
    self.cuts = cuts.compactMap { $0.whole.flatMap { Int(exactly: $0) } }
    end = try whole("end")
    isTwoPass = try whole("passes") == 2
    guard values.count == self.values.count, cuts.count == self.cuts.count,
      self.cuts.first ?? -1 >= 0, end <= pictureCount,
      zip(self.cuts, self.cuts.dropFirst() + [end]).allSatisfy({ $0 < $1 }),
      abs(runningTimeShift) < 1 << 62
    else { throw damaged("its parts are not in order") }
    guard try text("key") == (try key) else { throw damaged("its key is not that of its contents") }
  }
}

// SPDX-License-Identifier: MPL-2.0

import PipelineFile
import Testing

/// Versions, brackets, repeated branches, choices that stand for something, endings.
struct FormatTests {
  @Test("the format has a version, which may be left out")
  func version() throws {
    _ = try graph("version: 1\nlinks: [filesrc -> filesink]")
    let (file, diagnostics) = read("version: 2\nlinks: [filesrc -> filesink]")
    #expect(file == nil)
    #expect(diagnostics.text().contains("'version' cannot be '2'"))
  }

  @Test("brackets hold the caps that choose a pad, and parentheses do not")
  func brackets() throws {
    let text = """
      elements: { decode: { type: decodebin } }
      links:
        - filesrc -> decode
        - decode[video/x-raw, width=[1, 64]]? -> filesink
      """
    #expect(try graph(text).links[1].padCaps == .known("video/x-raw, width=[1, 64]"))
    #expect(read(text).diagnostics.all.isEmpty)
    for (link, message) in [
      ("filesrc -> decode[video/x-raw]", "caps in brackets choose a pad that a link begins at"),
      ("decode[width=5] -> filesink", "'width=5' is not valid caps"),
      ("decode(video/x-raw) -> filesink", "in brackets, as in decode[video/x-raw]"),
      ("filesrc[video/x-raw] -> decode", "no element is named 'filesrc'"),
      ("decode[video/x-raw]x -> filesink", "only '?' or '*' may follow ']'"),
      ("decode[video/x-raw -> filesink", "'[' is never closed"),
      ("filesrc -> decode*", "'*' belongs to the first end of a link"),
    ] {
      let broken = read("elements: { decode: { type: decodebin } }\nlinks: [\"\(link)\"]")
      #expect(broken.file == nil, "\(link)")
      #expect(broken.diagnostics.text().contains(message), "\(broken.diagnostics.text())")
    }
  }

  @Test("a branch with '*' is repeated with all that begins at its elements")
  func repetition() throws {
    let graph = try graph(
      """
      elements:
        decode: { type: decodebin }
        sound: { type: tee }
        mux: { type: mvhevcmux }
      links:
        - filesrc -> decode
        - decode[audio/x-raw]* -> sound
        - sound -> audioconvert -> mux.audio_%u
        - decode[video/x-raw] -> mux.left
        - mux -> filesink
      """)
    #expect(graph.explanation().contains("decode[audio/x-raw]* -> sound"))
    let three = graph.repeating(3)
    #expect(
      three.elements.map(\.name).filter { $0.contains(":") }.sorted()
        == ["audioconvert-1:2", "audioconvert-1:3", "sound:2", "sound:3"])
    #expect(
      three.linkTexts.filter { $0.contains("sound") } == [
        "decode[audio/x-raw]? -> sound", "decode[audio/x-raw]? -> sound:2",
        "sound:2 -> audioconvert-1:2", "decode[audio/x-raw]? -> sound:3",
        "sound:3 -> audioconvert-1:3", "sound -> audioconvert-1",
      ])
    #expect(three.elements.prefix(graph.elements.count).map(\.name) == graph.elements.map(\.name))
  }

  @Test("a file that would be written for each pad is a mistake")
  func repeatedOutput() throws {
    let graph = try graph(
      """
      elements: { decode: { type: decodebin } }
      links:
        - filesrc -> decode
        - decode[audio/x-raw]* -> filesink(location=a.raw)
      """)
    let text = graph.check(against: FakeRegistry(), files: FakeFiles()).text()
    #expect(text.contains("'a.raw' would be written once for each pad"), "\(text)")
  }

  @Test("choices can stand for something else; a path's ending can be one")
  func choices() throws {
    let text = """
      parameters:
        output: { type: path, endings: [mov, mp4], required: true }
        muxer: { type: choice, choices: { mov: qtmux, mp4: mp4mux }, default: "${output.extension}" }
      elements: { sink: { type: filesink, location: "${output}" } }
      links: ["filesrc(location=${muxer}) -> sink"]
      """
    #expect(try graph(text, ["output=a.MP4"]).value("filesrc-1", "location") == "mp4mux")
    #expect(
      try graph(text, ["output=a.mp4", "muxer=mov"]).value("filesrc-1", "location") == "qtmux")
    let mistake = #expect(throws: Mistakes.self) { try graph(text, ["output=a.mkv"]) }
    #expect(mistake?.text.contains("'output' must end in .mov or .mp4, not in .mkv") == true)
    #expect(throws: Mistakes.self) { try graph(text, ["output=a.mov", "muxer=mp4mux"]) }
  }

  @Test("a path that becomes a pattern for numbers has its percent signs doubled")
  func pattern() throws {
    let text = """
      parameters: { output: { type: path, required: true } }
      links: ["filesrc -> filesink(location=${output.pattern}-%05d.png)"]
      """
    #expect(
      try graph(text, ["output=100%sure"]).value("filesink-1", "location")
        == "100%%sure-%05d.png")
  }

  @Test("YAML's special characters may occur in block text, in quotes, and within words")
  func signs() throws {
    let file = try #require(
      read(
        """
        description: |
          ? - & *all
          &all of *all
        links: ["filesrc(location=*all) -> filesink"]
        parameters:
          a: { type: string, help: why ?, default: '*all' }
        templates: { t: { chain: ["queue(leaky=${a})"] } }
        """
      ).file)
    #expect(file.description == "? - & *all\n&all of *all\n")
    #expect(file.parameters.map(\.help) == ["why ?"])
  }

  @Test("caps in a link may be quoted")
  func quotedCaps() throws {
    let graph = try graph(
      """
      links:
        - filesrc -> "video/x-raw, width=64" -> filesink
        - filesrc -> 'audio/x-raw' -> filesink
        - 'filesrc -> video/x-raw,format="I420" -> filesink'
      """)
    #expect(
      graph.links.compactMap(\.filter?.known) == [
        "video/x-raw, width=64", "audio/x-raw", "video/x-raw,format=\"I420\"",
      ])
  }
}

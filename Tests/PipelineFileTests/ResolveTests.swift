// SPDX-License-Identifier: MPL-2.0

import PipelineFile
import Testing

struct ResolveTests {
  static let example = """
    description: Turn a side-by-side 3D movie into an MV-HEVC spatial movie.
    parameters:
      input:   { type: path, help: the side-by-side movie, required: true }
      output:  { type: path, default: "${input.stem}_MVHEVC.mov" }
      fov:     { type: number, unit: degrees, minimum: 1, maximum: 360, default: 63.4 }
      quality: { type: integer, minimum: 0, maximum: 51, default: 22 }
    elements:
      source: { type: filesrc, location: "${input}" }
      decode: { type: decodebin }
      split:  { type: sbssplit }
      mux:    { type: mvhevcmux, quality: "${quality}" }
      sink:   { type: filesink, location: "${output}" }
    templates:
      eye:
        parameters: { name: { type: choice, choices: [left, right] } }
        chain: [queue, { type: stereotagger, eye: "${name}", horizontal-field-of-view: "${fov}" }]
    links:
      - source -> decode
      - decode[video/x-raw] -> split
      - split.left  -> eye(name=left)  -> mux.left
      - split.right -> eye(name=right) -> mux.right
      - decode[audio/x-raw]? -> audioconvert -> avenc_aac -> mux.audio_%u
      - mux -> sink
    run: { on-error: stop, watchdog: 10s }
    """

  @Test("the example of the format becomes the graph that it describes")
  func exampleGraph() throws {
    let graph = try graph(Self.example, ["input=films/Alps.mp4", "quality=18"])
    #expect(
      graph.elementTexts == [
        "source: filesrc location=films/Alps.mp4",
        "decode: decodebin",
        "split: sbssplit",
        "mux: mvhevcmux quality=18",
        "sink: filesink location=films/Alps_MVHEVC.mov",
        "eye-queue-1: queue",
        "eye-stereotagger-1: stereotagger eye=left horizontal-field-of-view=63.4",
        "eye-queue-2: queue",
        "eye-stereotagger-2: stereotagger eye=right horizontal-field-of-view=63.4",
        "audioconvert-1: audioconvert",
        "avenc_aac-1: avenc_aac",
      ])
    #expect(
      graph.linkTexts == [
        "source -> decode",
        "decode[video/x-raw] -> split",
        "split.left -> eye-queue-1",
        "eye-queue-1 -> eye-stereotagger-1",
        "eye-stereotagger-1 -> mux.left",
        "split.right -> eye-queue-2",
        "eye-queue-2 -> eye-stereotagger-2",
        "eye-stereotagger-2 -> mux.right",
        "decode[audio/x-raw]? -> audioconvert-1",
        "audioconvert-1? -> avenc_aac-1",
        "avenc_aac-1? -> mux.audio_%u",
        "mux -> sink",
      ])
    #expect(graph.elements.filter(\.isOptional).map(\.name) == ["audioconvert-1", "avenc_aac-1"])
    #expect(graph.links[8].location.line == 22)
    #expect(graph.run.watchdog == 10_000_000_000)
    #expect(graph.check(against: FakeRegistry(), files: nil).all.isEmpty)
  }

  @Test("an element that only optional links lead to is optional, like all that begins at it")
  func optionalElements() throws {
    let graph = try graph(
      """
      elements:
        decode: { type: decodebin }
        sound: { type: tee }
        both: { type: funnel }
        always: { type: audiotestsrc }
      links:
        - decode[audio/x-raw]? -> sound
        - sound -> queue -> one
        - sound -> both
        - always -> both
        - both -> two
      """)
    #expect(graph.elements.filter(\.isOptional).map(\.name) == ["sound", "queue-1", "one-1"])
    #expect(graph.links.indices.map(graph.isConditional) == [true, true, true, true, false, false])
  }

  @Test("a check needs no values: required ones stay unknown")
  func unknownValues() throws {
    let graph = try graph(Self.example, purpose: .check)
    #expect(graph.value("source", "location") == "?${input}")
    #expect(graph.value("sink", "location") == "?${output}")
    #expect(graph.value("mux", "quality") == "22")
    #expect(graph.check(against: FakeRegistry(), files: FakeFiles()).all.isEmpty)
  }

  @Test("a check needs no environment, a run does")
  func unknownEnvironment() throws {
    let text = "elements: { a: { type: filesrc, location: \"${env.FILM}\" } }\nlinks: [a -> b]"
    #expect(try graph(text, purpose: .check).value("a", "location") == "?${env.FILM}")
    #expect(throws: Mistakes.self) { try graph(text) }
    #expect(try graph(text, environment: ["FILM": "x.mp4"]).value("a", "location") == "x.mp4")
  }

  @Test("an explanation is a pipeline file for the same graph")
  func explanation() throws {
    let original = try graph(
      Self.example.replacing(
        "type: sbssplit", with: #"type: sbssplit, layout: "a: $${b} \"c\" 5°\n""#
      )
      .replacing(
        "mux -> sink", with: "mux -> video/quicktime,variant=iso -> queue(leaky=no) -> sink"),
      ["input=A b.mp4"])
    let text = original.explanation()
    let again = try graph(text)
    #expect(again.elementTexts == original.elementTexts)
    #expect(again.linkTexts == original.linkTexts)
    #expect(again.run == original.run)
    #expect(again.elements.map(\.isOptional) == original.elements.map(\.isOptional))
    #expect(again.explanation() == text)
  }

  @Test(
    "the parts of a path",
    arguments: [
      ("films/Alps.3d.mp4", ["films/Alps.3d", "Alps.3d.mp4", "films", "mp4"]),
      ("Alps.mp4", ["Alps", "Alps.mp4", ".", "mp4"]),
      ("/Alps", ["/Alps", "Alps", "/", ""]),
      ("a.b/.hidden", ["a.b/.hidden", ".hidden", "a.b", ""]),
    ])
  func pathParts(path: String, parts: [String]) throws {
    let graph = try graph(
      """
      parameters: { p: { type: path, required: true } }
      elements:
        a: { type: x, stem: "${p.stem}", name-: "${p.name}", dir: "${p.directory}", ext: "${p.extension}" }
      links: [a -> b]
      """, ["p=" + path])
    #expect(graph.elements[0].properties.map(\.value.text) == parts)
  }

  @Test(
    "values reach elements in the elements' own units",
    arguments: [
      ("duration", "1.5s", "1500000000"), ("duration", "500ms", "500000000"),
      ("duration", "2 min", "120000000000"), ("duration", "1:02:03.5", "3723500000000"),
      ("size", "4KiB", "4096"), ("size", "1.5 MB", "1500000"), ("size", "7", "7"),
      ("boolean", "Yes", "true"), ("boolean", "off", "false"), ("fraction", "25", "25/1"),
      ("integer", "-3", "-3"), ("number", "1e3", "1e3"), ("string", "${x}", "${x}"),
    ])
  func units(type: String, given: String, taken: String) throws {
    let text = """
      parameters: { a: { type: \(type) }, b: { type: \(type), default: "${a}" } }
      templates: { t: { parameters: { c: { type: \(type) } }, chain: [{ type: x, p: "${c}" }] } }
      links: ["y -> t(c=${b}) -> z"]
      """
    #expect(try graph(text, ["a=" + given]).value("t-x-1", "p") == taken)
  }

  @Test(
    "values of the wrong type are refused",
    arguments: [
      ("duration", "1"), ("duration", "-1s"), ("duration", "1e400s"), ("duration", "1:99"),
      ("duration", "300y"), ("duration", "99999999999999999h"), ("size", "1XB"), ("size", "-1"),
      ("size", "99999999999TB"), ("integer", "1.0"), ("integer", "99999999999999999999"),
      ("number", "nan"), ("number", "0x10"), ("number", "1e999"), ("boolean", "2"),
      ("fraction", "1/0"), ("fraction", "1/2/3"), ("fraction", "99999999999/1"), ("path", ""),
    ])
  func wrongValues(type: String, given: String) throws {
    let text = """
      parameters: { a: { type: \(type) } }
      links: ["y(p=${a}) -> z"]
      """
    #expect(throws: Mistakes.self) { try graph(text, ["a=" + given]) }
  }

  @Test("a value comes from the argument, else from the environment, else from the default")
  func precedence() throws {
    let text = """
      parameters: { a: { type: string, environment: A, default: "d${env.B}" } }
      links: ["y(p=${a}) -> z"]
      """
    #expect(try graph(text, ["a=1"], environment: ["A": "2", "B": "3"]).value("y-1", "p") == "1")
    #expect(try graph(text, environment: ["A": "2", "B": "3"]).value("y-1", "p") == "2")
    #expect(try graph(text, environment: ["B": "3"]).value("y-1", "p") == "d3")
  }

  @Test("a property that is nothing but a parameter without a value is left out")
  func unset() throws {
    let text = """
      parameters: { a: { type: string } }
      elements: { e: { type: x, p: "${a}", q: 1, r: ["${a}", 2] } }
      links: [e -> z]
      """
    #expect(try graph(text).elementTexts[0] == "e: x q=1 r=[2]")
    #expect(try graph(text, ["a="]).elementTexts[0] == "e: x p= q=1 r=[,2]")
  }

  @Test("only ${…} is special, and $${ stands for it")
  func escapes() throws {
    let text = """
      elements:
        e: { type: x, a: "{b} $c $$d }", f: "$${g}", h: "$$${i}", j: "{{ k }}" }
      links: [e -> z]
      """
    #expect(
      try graph(text).elementTexts[0]
        == "e: x a={b} $c $$d } f=${g} h=$${i} j={{ k }}")
  }

  private static let cameras = """
    parameters:
      cameras: { type: path, list: true, default: [a.mp4, b.mp4] }
      weights: { type: number, list: true }
    elements:
      mix: { type: compositor, weights: "${weights}", names: "${cameras.stem}" }
    templates:
      input: { parameters: { path: { type: path } }, chain: [{ type: filesrc, location: "${path}" }] }
    links:
      - "input(path=${cameras}) -> decodebin -> mix.sink_%u"
      - mix -> fakesink
    """

  @Test("a link that refers to a list is made for each of its values")
  func lists() throws {
    let graph = try graph(
      Self.cameras, ["cameras=x.mp4", "weights=1", "cameras=y.mp4", "cameras=z.mp4"])
    #expect(
      graph.linkTexts == [
        "input-filesrc-1 -> decodebin-1", "decodebin-1 -> mix.sink_%u",
        "input-filesrc-2 -> decodebin-2", "decodebin-2 -> mix.sink_%u",
        "input-filesrc-3 -> decodebin-3", "decodebin-3 -> mix.sink_%u", "mix -> fakesink-1",
      ])
    #expect(graph.elementTexts[0] == "mix: compositor weights=[1] names=[x,y,z]")
    #expect(
      graph.elementTexts.filter { $0.contains("filesrc location") } == [
        "input-filesrc-1: filesrc location=x.mp4", "input-filesrc-2: filesrc location=y.mp4",
        "input-filesrc-3: filesrc location=z.mp4",
      ])
    let (file, _) = read(Self.cameras)
    let usual = try #require(
      file?.resolve(arguments: [], environment: { _ in nil }, purpose: .run).graph)
    #expect(usual.elementTexts[0] == "mix: compositor names=[a,b]")
    #expect(usual.linkTexts.count == 5)
  }

  @Test("a list passes through includes as a list")
  func includedLists() throws {
    let graph = try graph(
      """
      parameters: { inputs: { type: path, list: true, required: true } }
      include:
        - { file: part.yaml, inherit: all }
      elements: { mix: { type: funnel } }
      links: [mix -> fakesink]
      """, ["inputs=a", "inputs=b"],
      includes: [
        "part.yaml": """
        parameters: { inputs: { type: path, list: true, required: true } }
        links: ["filesrc(location=${inputs}) -> mix"]
        """
      ])
    #expect(graph.linkTexts.filter { $0.hasSuffix("-> mix") }.count == 2)
  }

  @Test("templates use templates, with parameters of their own")
  func nestedTemplates() throws {
    let graph = try graph(
      """
      parameters: { rate: { type: integer, default: 5 } }
      templates:
        outer:
          parameters: { a: { type: string, default: x } }
          chain: ['inner(b="${a}, y")', "video/x-raw,rate=${rate}", queue(leaky=no), tee]
        inner:
          parameters: { b: { type: string } }
          chain: [{ type: t, list: [1, "${b}"], fields: { f: "${rate}" } }]
      links: [s -> outer -> outer(a=z) -> e]
      """)
    #expect(
      graph.elementTexts == [
        "s-1: s", "outer-inner-t-1: t list=[1,x, y] fields={f=5}", "outer-queue-1: queue leaky=no",
        "outer-tee-1: tee", "outer-inner-t-2: t list=[1,z, y] fields={f=5}",
        "outer-queue-2: queue leaky=no", "outer-tee-2: tee", "e-1: e",
      ])
    #expect(graph.linkTexts[1] == "outer-inner-t-1 -[video/x-raw,rate=5]-> outer-queue-1")
  }

  @Test("an included file adds its elements, templates and links, with values for its parameters")
  func includes() throws {
    let encode = """
      include: [eye.yaml]
      parameters: { quality: { type: integer, default: 1 } }
      elements: { mux: { type: mvhevcmux, quality: "${quality}" } }
      links: [mux -> fakesink]
      """
    let graph = try graph(
      """
      parameters: { q: { type: integer, default: 7 } }
      include: [{ file: parts/encode.yaml, with: { quality: "${q}" } }]
      links: [videotestsrc -> eye -> mux.left]
      """,
      includes: [
        "parts/encode.yaml": encode, "parts/eye.yaml": "templates: { eye: { chain: [queue] } }",
      ])
    #expect(
      graph.elementTexts == [
        "mux: mvhevcmux quality=7", "videotestsrc-1: videotestsrc", "eye-queue-1: queue",
        "fakesink-1: fakesink",
      ])
  }

  @Test("an included file inherits parameters by their names; 'with' goes first, and defaults stay")
  func inheritedParameters() throws {
    let file = """
      parameters:
        input: { type: path, default: a.mov }
        quality: { type: integer, default: 7 }
        rate: { type: fraction }
        eye: { type: choice, choices: { left: "1", right: "2" }, default: left }
      include: [{ file: b.yaml, inherit: all, with: { quality: 9 } }]
      elements: { source: { type: filesrc, location: "${input}" } }
      links: ["source -> z(q=${quality}) -> end"]
      """
    let included = """
      parameters:
        input: { type: string, required: true }
        quality: { type: integer, default: 1 }
        rate: { type: fraction, default: 25/1 }
        eye: { type: string, default: none }
        preset: { type: string, default: slow }
      include: [{ file: c.yaml, inherit: all }]
      elements:
        end: { type: x, i: "${input}", q: "${quality}", r: "${rate}", e: "${eye}", p: "${preset}" }
      """
    let innermost = """
      parameters: { quality: { type: integer, required: true } }
      elements: { last: { type: y, q: "${quality}" } }
      links: [z -> last]
      """
    let includes = ["b.yaml": included, "c.yaml": innermost]
    let plain = try graph(file, includes: includes)
    #expect(plain.elementTexts[1] == "end: x i=a.mov q=9 r=25/1 e=1 p=slow")
    #expect(plain.elementTexts[2] == "last: y q=9")
    let given = try graph(file, ["rate=30", "eye=right", "input=b"], includes: includes)
    #expect(given.elementTexts[1] == "end: x i=b q=9 r=30/1 e=2 p=slow")
    // A parameter that is handed on is used.
    #expect(read(file, includes: includes).diagnostics.all.isEmpty)
  }

  @Test("properties of a pad belong to the pad")
  func padProperties() throws {
    let graph = try graph(
      """
      elements:
        mux: mvhevcmux
        mux.audio_0: { language: deu }
      links: [audiotestsrc -> avenc_aac -> mux.audio_0, mux -> fakesink]
      """)
    #expect(graph.pads.map(\.name) == ["audio_0"])
    #expect(graph.pads[0].properties.map { "\($0.name)=\($0.value.text)" } == ["language=deu"])
    #expect(graph.check(against: FakeRegistry(), files: nil).all.isEmpty)
    #expect(graph.explanation().contains("mux.audio_0: { language: deu }"))
  }

  @Test("a unit in a parameter's description does not change its value")
  func parameterDescriptions() throws {
    let file = try #require(read(Self.example).file)
    #expect(file.parameters.map(\.name) == ["input", "output", "fov", "quality"])
    #expect(file.parameters[2].unit == "degrees")
    #expect(file.parameters[2].maximum == "360")
    #expect(file.parameters[0].placeholder == "PATH")
    #expect(file.description?.hasPrefix("Turn a side-by-side") == true)
  }
}

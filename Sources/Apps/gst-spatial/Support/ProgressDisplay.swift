// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import PipelineFile
internal import PipelineHost

/// Displays the progress of a run.
protocol ProgressDisplay {
  mutating func show(_ progress: RunProgress)
  mutating func show(_ warning: Diagnostic)
  mutating func show(_ kept: KeptRecording)
  mutating func show(_ segment: RunSegment)
  /// Displays whether a pad of an HLS sink gets nothing.
  mutating func show(silent: Bool, pad: String)
  /// Displays a message once.
  mutating func note(_ text: String)
  /// Clears temporary output.
  mutating func end()
}

extension ProgressDisplay {
  // Segments are many, and warnings tell of silence.
  mutating func show(_ segment: RunSegment) {}
  mutating func show(silent: Bool, pad: String) {}
}

extension RunProgress {
  /// The known facts, the most important first: percentage, remaining time, speed, frame rate and
  /// size.
  var facts: [String] {
    if let framesLeft {
      return ["finishing: \(framesLeft) \(framesLeft == 1 ? "frame" : "frames") left"]
    }
    var facts: [String] = []
    if let fraction { facts.append("\(Int((fraction * 100).rounded(.down))) %") }
    if fraction == nil, let position { facts.append(NumberFormat.clock(position.seconds)) }
    if let timeLeft { facts.append("\(NumberFormat.clock(timeLeft.seconds)) left") }
    if let speed { facts.append("\(NumberFormat.decimal(speed, 2))x") }
    if let framesPerSecond { facts.append("\(NumberFormat.decimal(framesPerSecond, 1)) fps") }
    if bytes > 0 { facts.append(NumberFormat.size(bytes)) }
    return facts
  }
}

/// A single terminal line that is redrawn.
struct ProgressBar: ProgressDisplay {
  private let terminal: Terminal
  private var line = ""

  init(_ terminal: Terminal) {
    self.terminal = terminal
  }

  mutating func show(_ progress: RunProgress) {
    // The window may have been resized. A full line would wrap.
    draw(Self.text(progress, columns: terminal.columns - 1))
  }

  mutating func show(_ warning: Diagnostic) {
    interrupt(Diagnostics([warning]).text(color: terminal.hasColor))
  }

  mutating func show(_ kept: KeptRecording) { note(kept.text) }
  mutating func note(_ text: String) { interrupt(text + "\n") }

  mutating func end() {
    guard !line.isEmpty else { return }
    line = ""
    terminal.write(Self.clear)
  }

  /// Moves to the start of the line and clears everything after it, including lines into which a
  /// narrower window has wrapped it.
  private static let clear = "\r\u{1B}[J"

  private mutating func draw(_ text: String) {
    line = text
    terminal.write(Self.clear + text)
  }

  private mutating func interrupt(_ text: String) {
    terminal.write(Self.clear + text + line)
  }

  /// Sizes of the bar, in characters.
  private static let barWidths = 8...40

  /// Returns the bar and as many facts as fit. In a narrow terminal the last facts are left out
  /// first, then the bar, and the first fact stays.
  static func text(_ progress: RunProgress, columns: Int) -> String {
    var facts = progress.facts
    let fraction = progress.framesLeft == nil ? progress.fraction : nil
    let smallest = fraction == nil ? 0 : barWidths.lowerBound + 2
    while room(facts, columns) < smallest, facts.count > 2 { facts.removeLast() }
    let hasBar = room(facts, columns) >= smallest
    while !hasBar, room(facts, columns) < 0, facts.count > 1 { facts.removeLast() }
    let text = facts.joined(separator: "  ")
    guard let fraction, hasBar else {
      return String((facts.isEmpty ? "starting" : text).prefix(max(0, columns)))
    }
    let width = min(barWidths.upperBound, room(facts, columns) - 2)
    return "\(bar(fraction, width: width))  \(text)"
  }

  /// Returns how many columns facts leave, which are fewer than none if there is no room for them.
  private static func room(_ facts: [String], _ columns: Int) -> Int {
    columns - facts.joined(separator: "  ").count
  }

  /// Returns a bar with a resolution of an eighth of a character.
  private static func bar(_ fraction: Double, width: Int) -> String {
    let eighths = Int(fraction * Double(width * 8))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    let bar = String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    return bar + String(repeating: "░", count: width - bar.count)
  }
}

/// Log lines, one every five seconds.
struct ProgressLines: ProgressDisplay {
  private let terminal: Terminal
  private var last = Duration.zero

  init(_ terminal: Terminal) {
    self.terminal = terminal
  }

  mutating func show(_ progress: RunProgress) {
    guard progress.elapsed - last >= .seconds(5) else { return }
    last = progress.elapsed
    terminal.line(progress.facts.joined(separator: "  "))
  }

  mutating func show(_ warning: Diagnostic) { terminal.write(Diagnostics([warning]).text()) }
  mutating func show(_ kept: KeptRecording) { note(kept.text) }
  mutating func note(_ text: String) { terminal.line(text) }
  mutating func end() {}
}

/// JSON objects, one per line.
struct ProgressEvents: ProgressDisplay {
  let terminal: Terminal

  mutating func show(_ progress: RunProgress) {
    terminal.line(JSON.object([("event", "progress")] + progress.fields).line)
  }

  mutating func show(_ warning: Diagnostic) {
    terminal.line(JSON.object([("event", "warning"), ("diagnostic", JSON(warning))]).line)
  }

  mutating func show(_ kept: KeptRecording) { terminal.line(JSON.object(kept.fields).line) }

  mutating func show(_ segment: RunSegment) {
    terminal.line(
      JSON.object([
        ("event", "segment"), ("rendition", .string(segment.rendition)),
        ("location", .string(segment.location)), ("start", JSON(segment.start.seconds)),
        ("duration", JSON(segment.duration.seconds)), ("bytes", JSON(Int(clamping: segment.bytes))),
      ]).line)
  }

  mutating func show(silent: Bool, pad: String) {
    terminal.line(
      JSON.object([("event", "stall"), ("pad", .string(pad)), ("stalled", .bool(silent))]).line)
  }

  mutating func note(_ text: String) {
    terminal.line(JSON.object([("event", "note"), ("message", .string(text))]).line)
  }

  mutating func end() {}
}

extension RunProgress {
  /// The fields of the JSON event, in seconds, bytes and frames.
  var fields: [(String, JSON)] {
    [
      ("elapsed", JSON(elapsed.seconds)), ("position", JSON(position?.seconds)),
      ("duration", JSON(duration?.seconds)),
      ("percent", JSON(fraction.map { $0 * 100 })), ("speed", JSON(speed)),
      ("frames", JSON(frames)), ("frames-per-second", JSON(framesPerSecond)),
      ("time-left", JSON(timeLeft?.seconds)), ("frames-left", JSON(framesLeft)),
      ("bytes", JSON(bytes)),
    ]
  }
}

/// Standard output and standard error.
struct Terminal: Sendable {
  let descriptor: Int32

  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let error = Terminal(descriptor: STDERR_FILENO)

  /// Whether this is a terminal that understands escape sequences.
  var isInteractive: Bool {
    isatty(descriptor) != 0 && getenv("TERM").map { String(cString: $0) } != "dumb"
  }

  /// Whether to use colour (see no-color.org).
  var hasColor: Bool { isInteractive && (getenv("NO_COLOR")?.pointee ?? 0) == 0 }

  /// Current width in characters; 80 if the terminal does not report it.
  var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Writes a line. The word before a message has its colour in diagnostics.
  func line(_ text: String) {
    let codes = [("error:", "1;31"), ("warning:", "1;35"), ("note:", "1;36")]
    guard hasColor, let (word, code) = codes.first(where: { text.hasPrefix($0.0) }) else {
      return write(text + "\n")
    }
    write("\u{1B}[\(code)m\(word)\u{1B}[0m\(text.dropFirst(word.count))\n")
  }

  /// Writes a line that is not a result, less brightly.
  func aside(_ text: String) { write(hasColor ? "\u{1B}[2m\(text)\u{1B}[0m\n" : text + "\n") }
}

/// Quoting for shells.
enum ShellWord {
  /// Returns a text as one shell word, quoted if necessary.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
          || "/_.-=+:,".utf8.contains(byte)
      }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}

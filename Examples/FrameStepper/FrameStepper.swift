// SPDX-License-Identifier: MPL-2.0

import StereoMedia

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Steps through a stereo movie and writes both eyes of each frame shown:
///
///     FrameStepper movie.mov FOLDER
///
/// Space goes to the next frame, b to the previous one; a number and Return go to that second; q
/// quits.
@main
enum FrameStepper {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let path = arguments.first, let folder = arguments.last else {
      return print("usage: FrameStepper MOVIE FOLDER")
    }
    do {
      let movie = try await StereoMovie(path)
      guard let video = movie.video else { return print("'\(path)' has no video") }
      tell(movie, video)
      try await step(through: movie, video, writingTo: folder)
    } catch {
      print("error: \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("hint: \(hint)") }
      exit(1)
    }
  }

  static func tell(_ movie: StereoMovie, _ video: StereoMovie.VideoTrack) {
    print("\(video.eyeWidth)x\(video.eyeHeight) an eye, \(video.frames.count) frames")
    for layer in video.layers {
      print("layer \(layer.nuhLayerID): view \(layer.viewID), \(layer.eye?.rawValue ?? "no") eye")
    }
    print(movie.isSpatial ? "spatial" : "not spatial: \(movie.verdict.missing)")
  }

  static func step(
    through movie: StereoMovie, _ video: StereoMovie.VideoTrack, writingTo folder: String
  ) async throws {
    // Each decodes only the frames it shows.
    let eyes = Eye.allCases.map { eye in
      (eye, StereoImageGenerator(movie, show: eye == .left ? .left : .right))
    }
    var index = 0
    var digits = ""
    let terminal = RawTerminal()
    defer { terminal.restore() }
    while true {
      if digits.isEmpty {
        for (eye, generator) in eyes {
          let image = try await generator.image(index, as: .png)
          try write(image.bytes, to: "\(folder)/\(index)-\(eye.rawValue).png")
        }
        print("frame \(index) at \(video.frames[index].time)")
      }
      let key = getchar()
      switch key {
      case EOF, Int32(UInt8(ascii: "q")): return
      case Int32(UInt8(ascii: " ")): index = min(index + 1, video.frames.count - 1)
      case Int32(UInt8(ascii: "b")): index = max(index - 1, 0)
      case Int32(UInt8(ascii: "\n")):
        if let seconds = Double(digits), seconds < 1e9 {
          index = video.frames.playing(at: .seconds(seconds)) ?? 0
        }
        digits = ""
      default: digits.append(Character(UnicodeScalar(UInt8(truncatingIfNeeded: key))))
      }
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "wb") else {
      throw StereoMediaError(.unreadable, "'\(path)': \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    fwrite(bytes, 1, bytes.count, file)
  }
}

/// A terminal that delivers each key immediately, if standard input is a terminal.
struct RawTerminal {
  private let before: termios?

  init() {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
      before = nil
      return
    }
    before = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  func restore() {
    guard var before else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
  }
}

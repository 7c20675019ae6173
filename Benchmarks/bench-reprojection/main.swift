// SPDX-License-Identifier: MPL-2.0

// Measures views of 1920x1080 pixels of a 360-degree picture of 3840x1920, 4:2:0: CPU time per
// frame in milliseconds, and the PSNR of luma against sampling in double precision.
//
// Usage: bench-reprojection linear|cubic|lanczos|nearest 8|10 [threads [frames]]
// Prints a line for each view: yaw,pitch,roll CONSTANT-MS MOVING-MS PSNR-DB MOVING-PSNR-DB
import Glibc
import Reprojection
import StereoVideo

let arguments = Array(CommandLine.arguments.dropFirst())
guard let interpolation = Interpolation(rawValue: arguments.first ?? "linear"),
  let depth = Int(arguments.dropFirst().first ?? "8"), depth == 8 || depth == 10,
  let threads = Int(arguments.dropFirst(2).first ?? "1"),
  let frames = Int(arguments.dropFirst(3).first ?? "40"), frames > 1
else {
  print("usage: bench-reprojection linear|cubic|lanczos|nearest 8|10 [threads [frames]]")
  exit(2)
}

let source = BenchmarkPicture.noise(width: 3840, height: 1920, depth: depth)
let output = BenchmarkPicture(width: 1920, height: 1080, depth: depth)
let geometry = try PictureGeometry(.equirectangular(.full), width: 3840, height: 1920)
let target = try PictureGeometry(
  .rectilinear(horizontalFieldOfView: 90), width: 1920, height: 1080)
let pictures = [Reprojector.Picture(source: source.planes, target: output.planes)]

func cpuMilliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
}

/// Returns the minimum time of the frames, because the machine may have other work.
func least(_ frame: (Int) throws -> Void) rethrows -> Double {
  for index in 0..<3 { try frame(index) }
  var least = Double.infinity
  for index in 3..<frames + 3 {
    let start = cpuMilliseconds()
    try frame(index)
    least = min(least, cpuMilliseconds() - start)
  }
  return least
}

@MainActor func psnr(_ view: SphereOrientation) -> Double {
  let rotation = Rotation(view: view)
  let (before, after) = interpolation.reach
  var sum = 0.0
  for y in 0..<1080 {
    for x in 0..<1920 {
      let ray = target.direction(of: PicturePosition(x: Double(x), y: Double(y)))
      guard let ray, let position = geometry.position(of: rotation(ray)) else { continue }
      let (column, line) = (position.x.rounded(.down), position.y.rounded(.down))
      let across = interpolation.weights(position.x - column)
      let down = interpolation.weights(position.y - line)
      var value = 0.0
      for row in -before...after {
        // Beyond a pole, the first or last row is repeated, half a turn further.
        var (fixed, turn) = (Int(line) + row, 0)
        if fixed < 0 || fixed > 1919 {
          (fixed, turn) = (fixed < 0 ? -1 - fixed : 3839 - fixed, 1920)
        }
        for tap in -before...after {
          let wrapped = (Int(column) + tap + turn + 2 * 3840) % 3840
          value += source.luma(wrapped, fixed) * across[tap + before] * down[row + before]
        }
      }
      let error = min(max(value, 0), Double((1 << depth) - 1)) - output.luma(x, y)
      sum += error * error
    }
  }
  let peak = Double((1 << depth) - 1)
  return 10 * log10(peak * peak / (sum / (1920 * 1080)))
}

func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

for view in [
  SphereOrientation(), SphereOrientation(yaw: 30, pitch: 20, roll: 10),
  SphereOrientation(yaw: 180), SphereOrientation(yaw: 30, pitch: 60), SphereOrientation(pitch: 90),
] {
  var settings = Reprojector.Settings()
  settings.interpolation = interpolation
  settings.antialias = false
  settings.threads = threads
  let reprojector = try Reprojector(
    source: geometry, format: .planar(depth: depth), settings: settings)
  let moving = try least { index in
    var view = view
    view.yaw += Double(index % 2) * 1e-4
    try reprojector.draw(target, view, pictures)
  }
  var last = view
  last.yaw += Double((frames + 2) % 2) * 1e-4
  let movingQuality = psnr(last)
  let constant = try least { _ in try reprojector.draw(target, view, pictures) }
  print(
    "\(view.yaw),\(view.pitch),\(view.roll)", text(constant), text(moving), text(psnr(view)),
    text(movingQuality))
}

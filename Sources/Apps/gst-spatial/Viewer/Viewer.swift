// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile
internal import StereoMedia
internal import Web

/// The web page that shows a movie frame by frame, and what it asks for: `movie.json`, the pictures of each
/// frame, and the sound.
///
/// Nothing of a request leads to a file: what is served is the page, and what numbers mean in the one
/// movie that was opened.
struct Viewer: WebResponder {
  let guardian: ViewerGuard
  private let description: [UInt8]
  private let frames: FramePictures
  private let sound: Once<OpenFile>
  private let layers: Once<[UInt8]>

  /// - Parameter packing: how the pictures of a movie that does not say so are seen to hold two eyes.
  init(_ movie: StereoMovie, packing: PackingLayout.Arrangement?, _ guardian: ViewerGuard) {
    self.guardian = guardian
    description = Array(ViewedMovie(movie, packing: packing).json.line.utf8)
    frames = FramePictures(movie)
    sound = Once { try await ViewedSound.file(of: movie) }
    layers = Once {
      let base = try await LayerSizes.read(movie)?.base
      return Array(JSON.array((base ?? []).map { JSON($0) }).line.utf8)
    }
  }

  func respond(to request: WebRequest) async -> WebResponse {
    var response: WebResponse
    do {
      response = try await answer(to: guardian.admit(request))
    } catch let refusal as ViewerRefusal {
      response = WebResponse(refusal.status)
    } catch let error as StereoMediaError {
      response = text(error.code == .outOfRange ? .notFound : .internalServerError, "\(error)")
    } catch is CancellationError {
      response = WebResponse(.serviceUnavailable)
    } catch {
      response = text(.internalServerError, "\(error)")
    }
    response.headers += ViewerGuard.headers
    return response
  }

  /// - Parameter path: behind the token.
  private func answer(to admitted: ViewerGuard.Admitted) async throws -> WebResponse {
    let (path, request) = (admitted.path, admitted.request)
    switch (path.count, path.first ?? "") {
    case (1, "movie.json"): return file("application/json", description)
    case (1, "layers.json"): return file("application/json", try await layers.value)
    case (1, "sound.m4a"):
      return WebResponse(
        try await sound.value, for: request,
        headers: [("Content-Type", "audio/mp4"), ("Cache-Control", "no-cache")])
    case (1, let name):
      guard let page = PageFile(name) else { break }
      return file(page.type, page.bytes)
    case (3, "frame"):
      guard let index = Int(path[1]), let wanted = FramePictures.Request(path[2], request) else {
        break
      }
      return try await picture(index, wanted, request)
    default: break
    }
    return WebResponse(.notFound)
  }

  private func file(_ type: String, _ bytes: [UInt8]) -> WebResponse {
    WebResponse(
      .ok, headers: [("Content-Type", type), ("Cache-Control", "no-cache")], body: .bytes(bytes))
  }

  private func picture(
    _ index: Int, _ wanted: FramePictures.Request, _ request: WebRequest
  ) async throws -> WebResponse {
    // A movie does not change while it is viewed, and each view of it has addresses of its own.
    let headers = [
      ("Content-Type", wanted.format == .png ? "image/png" : "image/jpeg"),
      ("Cache-Control", "private, max-age=86400, immutable"),
    ]
    guard request.method == .get else { return WebResponse(.ok, headers: headers) }
    guard let image = try await frames.image(index, wanted) else {
      return WebResponse(.serviceUnavailable, headers: [("Retry-After", "1")])
    }
    return WebResponse(.ok, headers: headers, body: .bytes(image))
  }

  private func text(_ status: WebResponse.Status, _ message: String) -> WebResponse {
    var response = file("text/plain; charset=utf-8", Array(message.utf8))
    response.status = status
    return response
  }
}

// SPDX-License-Identifier: MPL-2.0

/// The files of the viewer's page, which are in the command itself.
enum PageFile: String {
  case page = ""
  case style = "viewer.css"
  case viewer = "viewer.js"
  case stage = "stage.js"
  case frames = "frames.js"
  case timeline = "timeline.js"
  case player = "player.js"

  /// - Parameter name: the last part of a path; empty for the page.
  init?(_ name: String) { self.init(rawValue: name) }

  /// RFC 6838.
  var type: String {
    switch self {
    case .page: "text/html; charset=utf-8"
    case .style: "text/css; charset=utf-8"
    case .viewer, .stage, .frames, .timeline, .player: "text/javascript; charset=utf-8"
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .page: PackageResources.viewer_html
    case .style: PackageResources.viewer_css
    case .viewer: PackageResources.viewer_js
    case .stage: PackageResources.stage_js
    case .frames: PackageResources.frames_js
    case .timeline: PackageResources.timeline_js
    case .player: PackageResources.player_js
    }
  }
}

// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Testing

/// ``FileNameLayout``: the names that players, headset libraries and release groups use.
struct FileNameLayoutTests {
  private static let beside = FileNameLayout.Eyes.packed(.sideBySide, rightViewFirst: false)
  private static let above = FileNameLayout.Eyes.packed(.topBottom, rightViewFirst: false)

  @Test(
    "terms for two eyes side by side, joined or divided by any separator",
    arguments: [
      ("sbs", nil), ("SBS", nil), ("LR", nil), ("3DH", nil), ("Side-By-Side", nil),
      ("side by side", nil), ("3D.SBS", nil), ("3DSBS", nil), ("left-right", nil), ("sbsl", nil),
      ("HSBS", true), ("H-SBS", true), ("Half-SBS", true), ("half.sbs", true), ("halfsbs", true),
      ("Half Side By Side", true), ("3DHSBS", true), ("3D-H-SBS", true), ("sbs2l", true),
      ("SBS-Half", true), ("lrh", true), ("FSBS", false), ("F-SBS", false), ("Full-SBS", false),
      ("full.side.by.side", false), ("Full_LR", false),
    ] as [(String, Bool?)])
  func sideBySide(term: String, isHalf: Bool?) {
    for name in ["Film.\(term).mkv", "/films_TB/Film 3D \(term) 1080p.mkv", "(\(term)) a.b.mp4"] {
      let layout = FileNameLayout(path: name)
      #expect(layout.eyes == Self.beside && layout.isHalf == isHalf, "\(name)")
      #expect(!layout.hasDoubtfulEyes && layout.projection == nil, "\(name)")
    }
  }

  @Test(
    "terms for two eyes one above the other",
    arguments: [
      ("TB", nil), ("tb", nil), ("OU", nil), ("TAB", nil), ("3DV", nil), ("Top-Bottom", nil),
      ("over_under", nil), ("Top and Bottom", nil), ("3D-TAB", nil), ("abl", nil),
      ("HOU", true), ("H-OU", true), ("HTAB", true), ("H-TAB", true), ("Half-OU", true),
      ("half.over.under", true), ("Half + Over + Under", true), ("Half-TAB", true),
      ("half top and bottom", true), ("tbh", true), ("tb2l", true), ("FTAB", false),
      ("Full-TAB", false), ("Full.Over-Under", false),
    ] as [(String, Bool?)])
  func topBottom(term: String, isHalf: Bool?) {
    for name in ["Film.\(term).mkv", "Film 3D \(term) 1080p.mkv"] {
      let layout = FileNameLayout(path: name)
      #expect(layout.eyes == Self.above && layout.isHalf == isHalf, "\(name)")
      #expect(!layout.hasDoubtfulEyes, "\(name)")
    }
  }

  @Test(
    "the right eye first",
    arguments: [
      ("rl", PackingLayout.Arrangement.sideBySide), ("sbsr", .sideBySide), ("sbs2r", .sideBySide),
      ("right-left", .sideBySide), ("BT", .topBottom), ("bottom-top", .topBottom),
      ("abr", .topBottom), ("SBS_RL", .sideBySide), ("hsbs.rl", .sideBySide),
      ("SBS crosseyed", .sideBySide), ("cross-eyed SBS", .sideBySide), ("OU_BT", .topBottom),
      ("Half-OU bottom-top", .topBottom), ("3D RL SBS", .sideBySide),
    ])
  func reversed(term: String, arrangement: PackingLayout.Arrangement) {
    #expect(
      FileNameLayout(path: "x_\(term).mp4").eyes == .packed(arrangement, rightViewFirst: true))
  }

  @Test(
    "an order of the other arrangement, and an ordinary word, do not change the eyes' order",
    arguments: [
      ("x_OU_RL.mp4", above), ("x_SBS_BT.mp4", beside), ("Film.3D.OU bt.mkv", above),
      ("x_SBS_LR.mp4", beside),
    ])
  func otherOrder(name: String, eyes: FileNameLayout.Eyes) {
    #expect(FileNameLayout(path: name).eyes == eyes)
  }

  @Test(
    "ordinary words are doubtful unless a term of stereo movies is beside them",
    arguments: [
      ("Vivre ou mourir.mkv", true), ("Pierrot le fou.mkv", true), ("The Tab.mkv", true),
      ("Film.OU.mkv", false), ("Film 3D ou.mkv", false), ("dive_360_tab.mp4", false),
      ("Half tab.mkv", false), ("Film ou bottom-top.mkv", false),
    ])
  func doubt(name: String, isDoubtful: Bool) {
    let layout = FileNameLayout(path: name)
    #expect(layout.eyes != nil && layout.hasDoubtfulEyes == isDoubtful)
  }

  @Test(
    "other words and folders mean nothing",
    arguments: [
      "Vitamin A B.mp4", "L R.mp4", "Thursday.mkv", "Subset.mp4", "a/Half-SBS/film.mkv", "", "/",
      ".mkv", "half.mkv", "full metal.mkv", "Film.1080p.H.264.mkv", "My.F.mp4",
    ])
  func nothing(name: String) {
    let layout = FileNameLayout(path: name)
    #expect(layout.eyes == nil && layout.isHalf == nil && layout.projection == nil)
  }

  @Test(
    "one picture, or eyes that cannot be separated",
    arguments: [
      ("Film.2D.mkv", FileNameLayout.Eyes.single), ("pano_360_mono.mp4", .single),
      ("2D to 3D SBS.mkv", beside), ("a.Anaglyph.mp4", .inseparable("an anaglyph")),
      ("x_row-interleaved.mkv", .inseparable("interleaved rows of both eyes")),
    ])
  func others(name: String, eyes: FileNameLayout.Eyes) {
    #expect(FileNameLayout(path: name).eyes == eyes)
  }

  @Test(
    "projections, and numbers that may mean anything else",
    arguments: [
      ("180", .kind(.halfEquirectangular), true), ("360", .kind(.equirectangular), true),
      ("180x180", .kind(.halfEquirectangular), false),
      ("VR180", .kind(.halfEquirectangular), false),
      ("VR 360", .kind(.equirectangular), false), ("360x180", .kind(.equirectangular), false),
      ("equirectangular", .kind(.equirectangular), false),
      ("dome", .kind(.halfEquirectangular), true),
      ("180SBS", .kind(.halfEquirectangular), true), ("360TB", .kind(.equirectangular), true),
      ("FISHEYE190", .fisheye(190), false), ("fisheye_200", .fisheye(200), false),
      ("fisheye", .fisheye(180), false), ("F180", .fisheye(180), true),
      ("F135", .fisheye(135), true),
      ("RF52", .fisheye(190), false), ("MKX200", .fisheye(200), false),
      ("VRCA220", .fisheye(220), false), ("EAC", .equiAngularCubemap, false),
      ("cubemap", .cubemap, false), ("360 360x180", .kind(.equirectangular), false),
    ] as [(String, FileNameLayout.Projection, Bool)])
  func projection(term: String, projection: FileNameLayout.Projection, isOnlyNumber: Bool) {
    let layout = FileNameLayout(path: "a_\(term).mp4")
    #expect(layout.projection == projection)
    #expect(layout.hasOnlyNumberForProjection == isOnlyNumber)
  }

  @Test("numbers that are no field of view", arguments: ["F40", "F1234", "F18x", "fisheye20"])
  func noFieldOfView(term: String) {
    #expect(FileNameLayout(path: "a_\(term).mp4").projection == nil)
  }
}

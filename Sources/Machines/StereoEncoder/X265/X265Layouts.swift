// SPDX-License-Identifier: MPL-2.0

// Written by scripts/x265-builds, from the headers of Debian's libx265-dev packages.

extension X265Layout {
  /// The builds of libx265 that can be used, the newest first.
  package static let known: [X265Layout] = [
    X265Layout(
      build: 216, version: "4.2", release: "sid",
      parameters: .init(
        size: 4736, frameNumThreads: .init(4), sourceWidth: .init(572), sourceHeight: .init(576),
        fpsNum: .init(564), fpsDenom: .init(568), bframes: .init(652), bBPyramid: .init(660),
        bFrameAdaptive: .init(656), lookaheadDepth: .init(668), scenecutThreshold: .init(676),
        bHistBasedSceneCut: .init(4168), bOpenGOP: .init(636), bEnableFades: .init(4000),
        bIntraRefresh: .init(680), bEnableFrameDuplication: .init(4012), gopLookahead: .init(3168),
        maxCUSize: .init(684), maxTUSize: .init(700), aqMode: .init(1468), aqStrength: .init(1480),
        hevcAq: .init(1472), bitrate: .init(1424), vbvMaxBitrate: .init(1496),
        vbvBufferSize: .init(1500), rfConstant: .init(1456)),
      picture: .init(
        size: 16896, pts: .init(0), planes: .init(32), stride: .init(64), sliceType: .init(84),
        forceqp: .init(96), quantOffsets: .init(15792), averageQP: .init(15800),
        rcData: .init(16824)),
      nalUnit: .init(size: 16, sizeBytes: .init(4), payload: .init(8)),
      statistics: .init(
        size: 264, globalPsnr: .init(24), globalSsim: .init(32), encodedPictureCount: .init(80),
        statsI: .init(avgQp: .init(88), numPics: .init(136)),
        statsP: .init(avgQp: .init(144), numPics: .init(192)),
        statsB: .init(avgQp: .init(200), numPics: .init(248))),
      functions: .init(
        param_alloc: 48, param_free: 56, param_parse: 72, param_default_preset: 96,
        picture_alloc: 104, picture_free: 112, picture_init: 120, encoder_open: 128,
        encoder_parameters: 136, encoder_reconfig: 144, encoder_headers: 160, encoder_encode: 176,
        encoder_get_stats: 184, encoder_close: 200)),
    X265Layout(
      build: 215, version: "4.1", release: "trixie",
      parameters: .init(
        size: 4720, frameNumThreads: .init(4), sourceWidth: .init(568), sourceHeight: .init(572),
        fpsNum: .init(560), fpsDenom: .init(564), bframes: .init(648), bBPyramid: .init(656),
        bFrameAdaptive: .init(652), lookaheadDepth: .init(664), scenecutThreshold: .init(672),
        bHistBasedSceneCut: .init(4168), bOpenGOP: .init(632), bEnableFades: .init(4000),
        bIntraRefresh: .init(676), bEnableFrameDuplication: .init(4012), gopLookahead: .init(3168),
        maxCUSize: .init(680), maxTUSize: .init(696), aqMode: .init(1468), aqStrength: .init(1480),
        hevcAq: .init(1472), bitrate: .init(1424), vbvMaxBitrate: .init(1496),
        vbvBufferSize: .init(1500), rfConstant: .init(1456)),
      picture: .init(
        size: 16880, pts: .init(0), planes: .init(32), stride: .init(64), sliceType: .init(84),
        forceqp: .init(96), quantOffsets: .init(15792), averageQP: .init(15800),
        rcData: .init(16808)),
      nalUnit: .init(size: 16, sizeBytes: .init(4), payload: .init(8)),
      statistics: .init(
        size: 264, globalPsnr: .init(24), globalSsim: .init(32), encodedPictureCount: .init(80),
        statsI: .init(avgQp: .init(88), numPics: .init(136)),
        statsP: .init(avgQp: .init(144), numPics: .init(192)),
        statsB: .init(avgQp: .init(200), numPics: .init(248))),
      functions: .init(
        param_alloc: 48, param_free: 56, param_parse: 72, param_default_preset: 96,
        picture_alloc: 104, picture_free: 112, picture_init: 120, encoder_open: 128,
        encoder_parameters: 136, encoder_reconfig: 144, encoder_headers: 160, encoder_encode: 176,
        encoder_get_stats: 184, encoder_close: 200)),
    X265Layout(
      build: 199, version: "3.5", release: "bookworm",
      parameters: .init(
        size: 1168, frameNumThreads: .init(4), sourceWidth: .init(72), sourceHeight: .init(76),
        fpsNum: .init(64), fpsDenom: .init(68), bframes: .init(148), bBPyramid: .init(156),
        bFrameAdaptive: .init(152), lookaheadDepth: .init(164), scenecutThreshold: .init(172),
        bHistBasedSceneCut: .init(1072), bOpenGOP: .init(136), bEnableFades: .init(1008),
        bIntraRefresh: .init(176), bEnableFrameDuplication: .init(1020), gopLookahead: .init(912),
        maxCUSize: .init(180), maxTUSize: .init(196), aqMode: .init(468), aqStrength: .init(480),
        hevcAq: .init(472), bitrate: .init(424), vbvMaxBitrate: .init(496),
        vbvBufferSize: .init(500), rfConstant: .init(456)),
      picture: .init(
        size: 16816, pts: .init(0), planes: .init(24), stride: .init(48), sliceType: .init(64),
        forceqp: .init(76), quantOffsets: .init(15768), averageQP: .init(15776),
        rcData: .init(16752)),
      nalUnit: .init(size: 16, sizeBytes: .init(4), payload: .init(8)),
      statistics: .init(
        size: 264, globalPsnr: .init(24), globalSsim: .init(32), encodedPictureCount: .init(80),
        statsI: .init(avgQp: .init(88), numPics: .init(136)),
        statsP: .init(avgQp: .init(144), numPics: .init(192)),
        statsB: .init(avgQp: .init(200), numPics: .init(248))),
      functions: .init(
        param_alloc: 48, param_free: 56, param_parse: 72, param_default_preset: 88,
        picture_alloc: 96, picture_free: 104, picture_init: 112, encoder_open: 120,
        encoder_parameters: 128, encoder_reconfig: 136, encoder_headers: 152, encoder_encode: 160,
        encoder_get_stats: 168, encoder_close: 184)),
  ]
}

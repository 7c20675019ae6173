// swift-tools-version: 6.3
// SPDX-License-Identifier: MPL-2.0
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The files of the viewer's page, which become part of the command.
let viewerPage = [
  "viewer.html", "viewer.css", "viewer.js", "stage.js", "frames.js", "timeline.js", "player.js",
]

/// For tests that take longer to optimize than to run, file by file, so that an edit compiles one file again;
/// what they test is optimized. Not for those that look at every sample of many pictures, or at who holds memory.
let unoptimized =
  strict
  + [
    .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental"])
  ]

let package = Package(
  name: "gst-spatial",
  products: [
    .library(name: "gstspatial", type: .dynamic, targets: ["Spatial"]),
    .executable(name: "gst-spatial", targets: ["gst-spatial"]),
    .library(name: "StereoMedia", targets: ["StereoMedia"]),
    .library(name: "StereoVideo", targets: ["StereoVideo"]),
    .library(name: "HEVC", targets: ["HEVC", "StereoVideo"]),
    .library(name: "ISOBMFF", targets: ["ISOBMFF", "StereoVideo"]),
    .library(name: "PipelineHost", targets: ["PipelineHost"]),
    .library(name: "PipelineFile", targets: ["PipelineFile"]),
    .library(name: "GStreamer", targets: ["GStreamer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // C libraries: a module map and header-only shims each.
    .systemLibrary(name: "CGStreamer", pkgConfig: "gstreamer-pbutils-1.0"),
    .systemLibrary(name: "CGStreamerApp", pkgConfig: "gstreamer-app-1.0"),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1"),
    .systemLibrary(name: "CGStreamerCheck", pkgConfig: "gstreamer-check-1.0"),

    // Formats and models: no GStreamer, no Foundation.
    .target(name: "StereoVideo", swiftSettings: strict),
    .target(name: "HEVC", dependencies: ["StereoVideo"], swiftSettings: strict),
    .target(name: "ISOBMFF", dependencies: ["StereoVideo"], swiftSettings: strict),
    .target(name: "Matroska", dependencies: ["ISOBMFF", "StereoVideo"], swiftSettings: strict),
    .target(name: "Reprojection", dependencies: ["StereoVideo"], swiftSettings: strict),
    .target(
      name: "StereoTestScene", dependencies: ["Reprojection", "StereoVideo"],
      swiftSettings: strict),
    .target(name: "Playlist", swiftSettings: strict),
    .target(name: "Packager", dependencies: ["ISOBMFF", "Playlist"], swiftSettings: strict),
    .target(
      name: "StereoEncoder", dependencies: ["HEVC", "StereoVideo"], swiftSettings: strict),
    .target(
      name: "MoviePlayer", dependencies: ["HEVC", "ISOBMFF", "StereoVideo"], swiftSettings: strict),

    // The declarative format of pipelines: no GStreamer.
    .target(
      name: "PipelineFile", dependencies: ["CYAML"], swiftSettings: strict),

    // The Swift layer over GStreamer.
    .target(name: "GStreamer", dependencies: ["CGStreamer"], swiftSettings: strict),

    // What programs alone need of GStreamer: data into and out of pipelines.
    .target(
      name: "GStreamerApp", dependencies: ["CGStreamer", "CGStreamerApp", "GStreamer"],
      swiftSettings: strict),

    // Files that are seen to be incomplete until they are whole.
    .target(name: "PartialFile", swiftSettings: strict),

    // A checked pipeline file as a graph that runs.
    .target(
      name: "PipelineHost",
      dependencies: ["GStreamer", "GStreamerApp", "PartialFile", "PipelineFile"],
      swiftSettings: strict),

    // Stereo video for programs in Swift.
    .target(
      name: "StereoMedia",
      dependencies: [
        "GStreamer", "GStreamerApp", "HEVC", "ISOBMFF", "MoviePlayer", "PartialFile",
        "Reprojection", "SpatialElements", "StereoVideo",
      ],
      swiftSettings: strict),

    // HTTP/1.1 for few peers, hostile ones among them; and HLS over it, with low latency.
    .target(
      name: "WebServer",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .target(name: "HLSOrigin", dependencies: ["Playlist", "WebServer"], swiftSettings: strict),

    // The command.
    .executableTarget(
      name: "gst-spatial",
      dependencies: [
        "GStreamer", "HEVC", "HLSOrigin", "ISOBMFF", "Matroska", "PipelineFile", "PipelineHost",
        "StereoMedia", "StereoVideo", "WebServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: viewerPage.map { .embedInCode("Viewer/Page/\($0)") },
      swiftSettings: strict,
      // Where it is installed, there need be no Swift.
      linkerSettings: [
        .unsafeFlags(
          [
            "-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections",
            "-use-ld=lld", "-Xlinker", "--gc-sections",
          ],
          .when(configuration: .release))
      ]),

    // What an application does that embeds the host.
    .executableTarget(
      name: "EmbeddedHost", dependencies: ["PipelineHost"], path: "Examples/EmbeddedHost",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),

    // What applications do with StereoMedia.
    .executableTarget(
      name: "FrameStepper", dependencies: ["StereoMedia"], path: "Examples/FrameStepper",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    .executableTarget(
      name: "TwoCameras", dependencies: ["StereoMedia"], path: "Examples/TwoCameras",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    .executableTarget(
      name: "ConvertAll", dependencies: ["StereoMedia"], path: "Examples/ConvertAll",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    .executableTarget(
      name: "SpatialToSBS", dependencies: ["StereoMedia"], path: "Examples/SpatialToSBS",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    .executableTarget(
      name: "SpherePlayer", dependencies: ["StereoMedia"], path: "Examples/SpherePlayer",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),
    .executableTarget(
      name: "CompositorApp", dependencies: ["StereoMedia"], path: "Examples/CompositorApp",
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")]),

    // GstHarness, for tests.
    .target(
      name: "GStreamerCheck", dependencies: ["CGStreamer", "CGStreamerCheck", "GStreamer"],
      swiftSettings: strict),

    // The elements, one folder each.
    .target(
      name: "SpatialElements",
      dependencies: [
        "GStreamer", "HEVC", "ISOBMFF", "MoviePlayer", "Packager", "Playlist",
        "Reprojection", "StereoEncoder", "StereoTestScene", "StereoVideo",
      ],
      swiftSettings: strict),

    // libgstspatial.so: the Swift runtime inside, one symbol outside.
    .target(
      name: "Spatial", dependencies: ["GStreamer", "SpatialElements"],
      path: "Plugins/Spatial",
      exclude: ["exports.map", "Presets"],
      swiftSettings: strict,
      linkerSettings: [
        .unsafeFlags(
          [
            "-static-stdlib",
            // lld packs the relocations of the runtime, which every process reads, to a hundredth.
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--version-script=Plugins/Spatial/exports.map",
            "-Xlinker", "--gc-sections",
          ], .when(configuration: .release))
      ]),

    // Run by `make bench`.
    .executableTarget(
      name: "bench-encoder", dependencies: ["StereoEncoder", "StereoVideo"],
      path: "Benchmarks/bench-encoder", swiftSettings: strict),
    .executableTarget(
      name: "bench-bitstream", dependencies: ["HEVC", "StereoVideo"],
      path: "Benchmarks/bench-bitstream", swiftSettings: strict),
    .executableTarget(
      name: "bench-reprojection", dependencies: ["Reprojection", "StereoVideo"],
      path: "Benchmarks/bench-reprojection", swiftSettings: strict),
    .executableTarget(
      name: "bench-library", dependencies: ["PipelineHost", "StereoMedia"],
      path: "Benchmarks/bench-library", swiftSettings: strict),

    .testTarget(
      name: "PackagerTests", dependencies: ["ISOBMFF", "Packager", "Playlist", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "HLSOriginTests", dependencies: ["HLSOrigin", "TestKit", "WebServer"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "WebServerTests", dependencies: ["TestKit", "WebServer"], swiftSettings: unoptimized),
    .testTarget(name: "PlaylistTests", dependencies: ["Playlist"], swiftSettings: unoptimized),
    .testTarget(
      name: "StereoVideoTests", dependencies: ["StereoVideo"], swiftSettings: unoptimized),
    .testTarget(
      name: "StereoTestSceneTests",
      dependencies: ["Reprojection", "StereoTestScene", "StereoVideo"],
      swiftSettings: strict),
    .testTarget(
      name: "HEVCTests",
      dependencies: [
        "FuzzTargets", "HEVC", "StereoEncoder", "StereoTestScene", "StereoVideo", "TestKit",
      ],
      exclude: ["Streams"], swiftSettings: strict),
    .testTarget(
      name: "ISOBMFFTests",
      dependencies: ["FuzzTargets", "ISOBMFF", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "MatroskaTests", dependencies: ["ISOBMFF", "Matroska", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "ReprojectionTests",
      dependencies: ["FuzzTargets", "Reprojection", "StereoVideo", "TestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "StereoEncoderTests",
      dependencies: ["HEVC", "StereoEncoder", "StereoVideo", "TestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "MoviePlayerTests",
      dependencies: ["FuzzTargets", "HEVC", "ISOBMFF", "MoviePlayer", "StereoVideo", "TestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "PipelineFileTests", dependencies: ["PipelineFile", "TestKit"], exclude: ["Broken"],
      swiftSettings: unoptimized),
    .target(
      name: "TestElements",
      dependencies: ["CGStreamer", "GStreamer", "SpatialElements", "TestKit"],
      path: "Tests/TestElements", swiftSettings: strict),
    .target(
      name: "TestKit", dependencies: ["GStreamer", "HEVC", "ISOBMFF"], path: "Tests/TestKit",
      swiftSettings: strict),
    .testTarget(
      name: "PipelineHostTests",
      dependencies: [
        "GStreamer", "ISOBMFF", "PipelineFile", "PipelineHost", "StereoVideo", "TestElements",
        "TestKit",
      ],
      swiftSettings: unoptimized),
    .testTarget(
      name: "StereoMediaTests",
      dependencies: [
        "GStreamer", "ISOBMFF", "PipelineHost", "SpatialElements", "StereoMedia", "StereoVideo",
        "TestKit",
      ],
      swiftSettings: unoptimized),
    // Drives the built command, as a shell does.
    .testTarget(
      name: "CommandTests", dependencies: ["ISOBMFF", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "GStreamerTests", dependencies: ["CGStreamer", "GStreamer", "GStreamerCheck"],
      swiftSettings: unoptimized),
    // What is fed with hostile input, by `make fuzz` and by the tests.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "CGStreamer", "HEVC", "ISOBMFF", "Matroska", "MoviePlayer", "Playlist", "Reprojection",
        "StereoVideo",
      ],
      path: "Fuzz/Targets", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["CGStreamer", "FuzzTargets", "GStreamer", "TestKit"],
      exclude: ["Regressions", "Seeds"], swiftSettings: unoptimized),

    // The elements: linked into the tests by `make check`, in the built libgstspatial.so by `make test-all`.
    .testTarget(
      name: "SpatialTests",
      dependencies: [
        "CGStreamer", "FuzzTargets", "GStreamer", "GStreamerCheck", "HEVC", "ISOBMFF",
        "Reprojection", "SpatialElements", "StereoTestScene", "StereoVideo", "TestElements",
        "TestKit",
      ],
      swiftSettings: unoptimized),
  ],
  swiftLanguageModes: [.v6]
)

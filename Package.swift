// swift-tools-version: 6.2
// SPDX-License-Identifier: MPL-2.0
import Foundation
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
  "positions.js", "keyboard.js", "gestures.js", "icon.svg",
]

/// For tests that take longer to optimize than to run, file by file, so that an edit compiles one
/// file again; what they test is optimized. Not for those that look at every sample of many
/// pictures, or at who holds memory.
let unoptimized =
  strict
  + [
    .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental"])
  ]

/// Another package that the command uses. A source archive has it in the folder `vendor`, with
/// those that it uses itself (`scripts/sources`), and builds without a network.
func dependency(_ name: String, from version: Version) -> Package.Dependency {
  FileManager.default.fileExists(atPath: Context.packageDirectory + "/vendor")
    ? .package(path: "vendor/\(name)")
    : .package(url: "https://github.com/apple/\(name)", from: version)
}

/// A library of another package that only the command uses.
func command(_ name: String, of package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Command"]))
}

/// A program under Examples, built as a user's program is: without this package's settings.
func example(_ name: String, _ library: Target.Dependency) -> Target {
  .executableTarget(
    name: name, dependencies: [library], path: "Examples/\(name)",
    swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
}

let package = Package(
  name: "gst-spatial",
  products: [
    .library(name: "gstspatial", type: .dynamic, targets: ["Spatial"]),
    .executable(name: "gst-spatial", targets: ["gst-spatial"]),
    .library(name: "StereoMedia", targets: ["StereoMedia"]),
    .library(name: "StereoVideo", targets: ["StereoVideo"]),
    .library(name: "HEVC", targets: ["HEVC", "StereoVideo"]),
    .library(name: "AVC", targets: ["AVC", "HEVC", "StereoVideo"]),
    .library(name: "ISOBMFF", targets: ["ISOBMFF", "StereoVideo"]),
    .library(name: "PipelineHost", targets: ["PipelineHost"]),
    .library(name: "PipelineFile", targets: ["PipelineFile"]),
    .library(name: "GStreamer", targets: ["GStreamer"]),
  ],
  // A program that depends on a library alone need not fetch what only the command uses.
  traits: [.default(enabledTraits: ["Command"]), "Command"],
  dependencies: [
    dependency("swift-argument-parser", from: "1.8.2"),
    dependency("swift-nio", from: "2.101.2"),
  ],
  targets: [
    // A target imports what stands above it here, and nothing that stands below it.

    // Model and formats: neither GStreamer nor Foundation.
    .target(name: "StereoVideo", path: "Sources/Model/StereoVideo", swiftSettings: strict),
    .target(
      name: "HEVC", dependencies: ["StereoVideo"], path: "Sources/Formats/HEVC",
      swiftSettings: strict),
    // NAL units are those of HEVC, but for their headers.
    .target(
      name: "AVC", dependencies: ["HEVC", "StereoVideo"], path: "Sources/Formats/AVC",
      swiftSettings: strict),
    .target(
      name: "TransportStream", dependencies: ["AVC", "StereoVideo"],
      path: "Sources/Formats/TransportStream", swiftSettings: strict),
    .target(
      name: "ISOBMFF", dependencies: ["StereoVideo"], path: "Sources/Formats/ISOBMFF",
      swiftSettings: strict),

    // Machines, which elements are shells of: neither GStreamer nor Foundation.
    .target(
      name: "MoviePlayer", dependencies: ["HEVC", "ISOBMFF", "StereoVideo"],
      path: "Sources/Machines/MoviePlayer", swiftSettings: strict),
    // libx265 as a table of functions of our own: nothing is linked with it. Without x265.h there
    // is no table.
    .target(
      name: "CX265", path: "Sources/Machines/CX265",
      cSettings: [
        .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
      ]),
    .target(
      name: "StereoEncoder", dependencies: ["CX265", "HEVC", "StereoVideo"],
      path: "Sources/Machines/StereoEncoder", swiftSettings: strict),
    .target(
      name: "Reprojection", dependencies: ["StereoVideo"], path: "Sources/Machines/Reprojection",
      swiftSettings: strict),
    .target(
      name: "StereoTestScene", dependencies: ["Reprojection", "StereoVideo"],
      path: "Sources/Machines/StereoTestScene", swiftSettings: strict),
    .target(
      name: "Packager", dependencies: ["ISOBMFF", "StereoVideo"],
      path: "Sources/Machines/Packager",
      swiftSettings: strict),
    .systemLibrary(name: "CCrypto", path: "Sources/Machines/CCrypto", pkgConfig: "libcrypto"),

    // GStreamer in Swift. C libraries: a module map and header-only shims each.
    .systemLibrary(
      name: "CGStreamer", path: "Sources/GStreamer/CGStreamer", pkgConfig: "gstreamer-pbutils-1.0"),
    .target(
      name: "GStreamer", dependencies: ["CGStreamer", "StereoVideo"],
      path: "Sources/GStreamer/GStreamer", swiftSettings: strict),
    .systemLibrary(
      name: "CGStreamerCheck", path: "Sources/GStreamer/CGStreamerCheck",
      pkgConfig: "gstreamer-check-1.0"),
    .target(
      name: "GStreamerCheck",
      dependencies: ["CGStreamer", "CGStreamerCheck", "GStreamer", "StereoVideo"],
      path: "Sources/GStreamer/GStreamerCheck", swiftSettings: strict),

    // The elements, a folder each.
    .target(
      name: "SpatialElements",
      dependencies: [
        "AVC", "CCrypto", "GStreamer", "HEVC", "ISOBMFF", "MoviePlayer", "Packager",
        "Reprojection", "StereoEncoder", "StereoTestScene", "StereoVideo", "TransportStream",
      ],
      path: "Sources/Elements/SpatialElements", swiftSettings: strict),
    // libgstspatial.so: the Swift runtime inside, one symbol outside.
    .target(
      name: "Spatial", dependencies: ["GStreamer", "SpatialElements"],
      path: "Plugins/Spatial",
      exclude: ["exports.map", "Presets", "Profiles"],
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

    // The host of pipeline files. PipelineFile has no GStreamer.
    .systemLibrary(name: "CYAML", path: "Sources/Host/CYAML", pkgConfig: "yaml-0.1"),
    .target(
      name: "PipelineFile", dependencies: ["CYAML"], path: "Sources/Host/PipelineFile",
      swiftSettings: strict),
    .target(name: "PartialFile", path: "Sources/Host/PartialFile", swiftSettings: strict),
    .target(
      name: "PipelineHost",
      dependencies: ["GStreamer", "PartialFile", "PipelineFile", "SpatialElements", "StereoVideo"],
      path: "Sources/Host/PipelineHost", swiftSettings: strict),

    // The library for apps, and the command.
    .target(
      name: "StereoMedia",
      dependencies: [
        "AVC", "GStreamer", "HEVC", "ISOBMFF", "MoviePlayer", "PartialFile", "Reprojection",
        "SpatialElements", "StereoVideo", "TransportStream",
      ],
      path: "Sources/Apps/StereoMedia", swiftSettings: strict),
    // The header of libcurl, which is opened at run time.
    .systemLibrary(name: "CCurl", path: "Sources/Apps/CCurl"),
    .target(
      name: "Web",
      dependencies: [
        "CCurl", "Packager",
        command("NIOCore", of: "swift-nio"),
        command("NIOHTTP1", of: "swift-nio"),
        command("NIOPosix", of: "swift-nio"),
      ],
      path: "Sources/Apps/Web", swiftSettings: strict),
    // Conversions in parts: what plan, part, join and status do.
    .target(
      name: "MovieParts",
      dependencies: [
        "CCrypto", "GStreamer", "ISOBMFF", "MoviePlayer", "PipelineFile", "PipelineHost",
        "StereoEncoder", "StereoMedia", "StereoVideo", "Web",
      ],
      path: "Sources/Apps/MovieParts", swiftSettings: strict),
    .executableTarget(
      name: "gst-spatial",
      dependencies: [
        "GStreamer", "HEVC", "ISOBMFF", "MovieParts", "PipelineFile", "PipelineHost",
        "StereoMedia", "StereoVideo", "Web",
        command("ArgumentParser", of: "swift-argument-parser"),
      ],
      path: "Sources/Apps/gst-spatial",
      resources: viewerPage.map { .embedInCode("Viewer/Page/\($0)") },
      swiftSettings: strict,
      // On the machines where it is installed, there need be no Swift.
      linkerSettings: [
        .unsafeFlags(
          [
            "-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections",
            "-use-ld=lld", "-Xlinker", "--gc-sections",
          ],
          .when(configuration: .release))
      ]),

    // Programs to learn from.
    example("EmbeddedHost", "PipelineHost"),
    example("CompositorApp", "StereoMedia"),
    example("ConvertAll", "StereoMedia"),
    example("FrameStepper", "StereoMedia"),
    example("SpatialToSBS", "StereoMedia"),
    example("SpherePlayer", "StereoMedia"),
    example("TwoCameras", "StereoMedia"),

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
      name: "PackagerTests", dependencies: ["ISOBMFF", "Packager", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "WebTests", dependencies: ["Packager", "TestKit", "Web"], swiftSettings: unoptimized),
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
      exclude: ["Streams"], swiftSettings: unoptimized),
    .testTarget(
      name: "AVCTests", dependencies: ["AVC", "HEVC", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "TransportStreamTests",
      dependencies: ["AVC", "HEVC", "StereoVideo", "TestKit", "TransportStream"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "ISOBMFFTests",
      dependencies: ["FuzzTargets", "ISOBMFF", "StereoVideo", "TestKit"],
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
      dependencies: ["CGStreamer", "GStreamer", "SpatialElements", "StereoVideo", "TestKit"],
      path: "Tests/TestElements", swiftSettings: strict),
    .target(
      name: "TestKit",
      dependencies: [
        "CGStreamer", "GStreamer", "HEVC", "ISOBMFF", "StereoEncoder", "StereoVideo",
      ],
      path: "Tests/TestKit", swiftSettings: strict),
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
        "GStreamer", "GStreamerCheck", "ISOBMFF", "PipelineHost", "SpatialElements", "StereoMedia",
        "StereoVideo", "TestKit",
      ],
      swiftSettings: unoptimized),
    .testTarget(
      name: "MoviePartsTests",
      dependencies: ["MovieParts", "PipelineFile", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    // Drives the built command, as a shell does.
    .testTarget(
      name: "CommandTests", dependencies: ["ISOBMFF", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "GStreamerTests",
      dependencies: ["CGStreamer", "GStreamer", "GStreamerCheck", "StereoVideo", "TestKit"],
      swiftSettings: unoptimized),
    // What is fed with hostile input, by `make fuzz` and by the tests.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "AVC", "CGStreamer", "HEVC", "ISOBMFF", "MoviePlayer", "Packager", "Reprojection",
        "StereoVideo", "TransportStream",
      ],
      path: "Fuzz/Targets", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "CGStreamer", "FuzzTargets", "GStreamer", "StereoVideo", "TestElements", "TestKit",
      ],
      exclude: ["Regressions", "Seeds"], swiftSettings: unoptimized),

    // The elements: linked into the tests by `make check`, in the built libgstspatial.so by `make
    // test-all`.
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

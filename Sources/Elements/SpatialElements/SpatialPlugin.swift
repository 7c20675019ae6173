// SPDX-License-Identifier: MPL-2.0

public import GStreamer
import StereoVideo

/// The plugin: what of it GStreamer is told, and all that it brings along.
public let spatialPlugin = PluginDeclaration(
  name: "spatial",
  description: "Stereo (spatial) video: MV-HEVC reading and writing, splitting, tagging",
  version: ProjectVersion.current,
  // libx265 is under the GPL, and so is what is linked with it.
  license: "GPL",
  source: "gst-spatial",
  package: "gst-spatial",
  origin: "https://github.com/gst-spatial/gst-spatial",
  releaseDate: ProjectVersion.releaseDate,
  features: StereoTags.declarations + SphereTags.declarations + [
    StereoViewMeta.meta,
    AccessUnitMeta.meta,

    stereoTestSource,
    sbsSplit,
    stereoPack,
    stereoTagger,
    mvhevcEnc,
    mvhevcDec,
    mvhevcMux,
    mvhevcDemux,
    mvhevcAutoDemux,
    layeredMovie,
    mvhevcHLSSink,
    sphericalView,
    sphericalConvert,

    layerFlattening.part,
    eyePairing.part,
  ])

/// The elements, for a program that has them linked in.
public enum SpatialElements {
  /// Makes the elements available to this process, whether or not `libgstspatial.so` is installed;
  /// needs neither a path nor an environment variable. Initialises GStreamer, which may take a
  /// while. Later calls do nothing.
  ///
  /// - Throws: a ``PluginConflict`` where a `libgstspatial.so` of another version is loaded already;
  ///   an ``ElementError`` where GStreamer refuses the elements.
  public static func register() throws {
    initialize()
    try spatialPlugin.registerInProcess()
  }
}

/// Who answers for the elements.
let author = "gst-spatial developers <gst-spatial@users.noreply.github.com>"

// SPDX-License-Identifier: MPL-2.0

public import GStreamer
import StereoVideo

/// The plugin's description and its features.
public let spatialPlugin = PluginDeclaration(
  name: "spatial",
  description: "Stereo (spatial) video: reading and writing MV-HEVC, splitting, tagging",
  version: ProjectVersion.current,
  // libx265 is under the GPL, and so is everything linked with it.
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
    pictureRange,
    mvhevcEnc,
    mvhevcSBSEnc,
    mvhevcDec,
    mvcDec,
    mvcAutoDec,
    mvcFlatten,
    mvctsDemux,
    mvctsAutoDemux,
    multiviewTransportStream,
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

/// Registration of the elements in a program that links them statically.
public enum SpatialElements {
  /// Makes the elements available in this process, whether or not `libgstspatial.so` is installed;
  /// needs neither a path nor an environment variable. Initialises GStreamer, which may take some
  /// time. Later calls do nothing.
  ///
  /// - Throws: a ``PluginConflict`` if a `libgstspatial.so` of another version is already loaded;
  ///   an ``ElementError`` if GStreamer rejects the elements.
  public static func register() throws {
    initialize()
    try spatialPlugin.registerInProcess()
  }
}

/// Author entry of all element declarations.
let author = "gst-spatial developers <gst-spatial@users.noreply.github.com>"

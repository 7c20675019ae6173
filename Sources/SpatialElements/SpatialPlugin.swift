public import GStreamer

/// The plugin: what of it GStreamer is told, and all that it brings along.
public let spatialPlugin = PluginDeclaration(
  name: "spatial",
  description: "Stereo (spatial) video: MV-HEVC reading and writing, splitting, tagging",
  version: "0.1.0",
  // libx265 is under the GPL, and so is what is linked with it.
  license: "GPL",
  source: "gst-spatial",
  package: "gst-spatial",
  origin: "https://github.com/gst-spatial/gst-spatial",
  releaseDate: "2026-11-21",
  features: StereoTags.declarations + [
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
  ])

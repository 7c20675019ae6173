public import CGStreamer
import GStreamer

private let plugin = PluginDeclaration(
  name: "spatial",
  description: "Stereo (spatial) video: MV-HEVC reading and writing, splitting, tagging",
  version: "0.1.0",
  // libx265 is under the GPL, and so is what is linked with it.
  license: "GPL",
  source: "gst-spatial",
  package: "gst-spatial",
  origin: "https://github.com/gst-spatial/gst-spatial",
  releaseDate: "2026-11-21")

/// What GStreamer looks for in `libgstspatial.so`.
@c(gst_plugin_spatial_get_desc)
public func pluginDescriptor() -> UnsafePointer<GstPluginDesc> {
  plugin.makeDescriptor { plugin in
    guard let plugin else { return 0 }
    StereoTags.register()
    StereoViewMeta.meta.register()
    AccessUnitMeta.meta.register()
    let registered = [
      stereoTestSource.register(plugin),
      sbsSplit.register(plugin),
      stereoPack.register(plugin),
      stereoTagger.register(plugin),
      mvhevcEnc.register(plugin),
      mvhevcDec.register(plugin),
      mvhevcMux.register(plugin),
      mvhevcDemux.register(plugin),
    ]
    return registered.allSatisfy { $0 } ? 1 : 0
  }
}

// SPDX-License-Identifier: MPL-2.0

import GStreamer
import SpatialElements

/// The entry point that GStreamer looks up in `libgstspatial.so`.
@_cdecl("gst_plugin_spatial_get_desc")
public func pluginDescriptor() -> UnsafeRawPointer { spatialPlugin.makeDescriptor() }

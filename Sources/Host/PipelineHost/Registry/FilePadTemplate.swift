// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// The pad template of pipeline files; GStreamer's has the same name.
typealias FilePadTemplate = PadTemplate

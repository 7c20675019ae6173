// SPDX-License-Identifier: LGPL-2.1-or-later

internal import PipelineFile

/// The pad template of pipeline files; GStreamer's has the same name.
typealias FilePadTemplate = PadTemplate

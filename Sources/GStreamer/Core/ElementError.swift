// SPDX-License-Identifier: LGPL-2.1-or-later

public import CGStreamer

/// What an element tells the application when it cannot go on: `GST_ELEMENT_ERROR`.
///
/// Thrown inside an element; the layer posts it as an error message and returns `GST_FLOW_ERROR`.
public struct ElementError: Error, Sendable, CustomStringConvertible {
  /// The GError domain and code.
  public enum Code: Sendable {
    case core(GstCoreError)
    case library(GstLibraryError)
    case resource(GstResourceError)
    case stream(GstStreamError)
  }

  public let code: Code
  /// For people: one sentence with what is wrong and what to do.
  public let message: String
  /// For developers: numbers, names and places; may be empty.
  public let debug: String
  let file: String
  let function: String
  let line: Int

  public init(
    _ code: Code, _ message: String, debug: String = "", file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.debug = debug
    self.file = file
    self.function = function
    self.line = line
  }

  public var description: String { debug.isEmpty ? message : "\(message) (\(debug))" }
}

/// An error of a lower target that knows its GStreamer domain and code.
public protocol ElementErrorConvertible: Error {
  var elementError: ElementError { get }
}

extension ElementError: ElementErrorConvertible {
  public var elementError: ElementError { self }

  /// `error` as it is posted: as it says itself, or as a failed stream.
  init(_ error: any Error) {
    self =
      (error as? any ElementErrorConvertible)?.elementError
      ?? ElementError(.stream(GST_STREAM_ERROR_FAILED), "\(error)")
  }
}

extension ElementError.Code {
  public static let demux = Self.stream(GST_STREAM_ERROR_DEMUX)
  public static let mux = Self.stream(GST_STREAM_ERROR_MUX)
  public static let encode = Self.stream(GST_STREAM_ERROR_ENCODE)
  public static let decode = Self.stream(GST_STREAM_ERROR_DECODE)
  public static let format = Self.stream(GST_STREAM_ERROR_FORMAT)
  public static let wrongType = Self.stream(GST_STREAM_ERROR_WRONG_TYPE)
  public static let codecNotFound = Self.stream(GST_STREAM_ERROR_CODEC_NOT_FOUND)
  public static let failedStream = Self.stream(GST_STREAM_ERROR_FAILED)
  public static let settings = Self.library(GST_LIBRARY_ERROR_SETTINGS)
  public static let write = Self.resource(GST_RESOURCE_ERROR_WRITE)
  public static let noSpaceLeft = Self.resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT)
  public static let seek = Self.resource(GST_RESOURCE_ERROR_SEEK)
  public static let negotiation = Self.core(GST_CORE_ERROR_NEGOTIATION)
  public static let pad = Self.core(GST_CORE_ERROR_PAD)
  public static let missingPlugin = Self.core(GST_CORE_ERROR_MISSING_PLUGIN)

  var domainAndCode: (GQuark, Int32) {
    switch self {
    case .core(let code): (gst_core_error_quark(), Int32(truncatingIfNeeded: code.rawValue))
    case .library(let code): (gst_library_error_quark(), Int32(truncatingIfNeeded: code.rawValue))
    case .resource(let code):
      (gst_resource_error_quark(), Int32(truncatingIfNeeded: code.rawValue))
    case .stream(let code): (gst_stream_error_quark(), Int32(truncatingIfNeeded: code.rawValue))
    }
  }
}

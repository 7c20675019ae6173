// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A fatal error of an element, as reported to the application: `GST_ELEMENT_ERROR`.
///
/// An element throws it; this library posts it as an error message and returns `GST_FLOW_ERROR`.
public struct ElementError: Error, Sendable, CustomStringConvertible {
  /// The kind of error, for programs: domain and code of a GError.
  public struct Code: Hashable, Sendable {
    /// The enumeration that the code belongs to.
    public enum Domain: Sendable {
      /// `GST_CORE_ERROR`
      case core
      /// `GST_LIBRARY_ERROR`
      case library
      /// `GST_RESOURCE_ERROR`
      case resource
      /// `GST_STREAM_ERROR`
      case stream
    }

    /// The enumeration that the code belongs to.
    public let domain: Domain
    /// The number of the code in its domain.
    public let rawValue: Int32
  }

  /// The kind of error, for programs.
  public let code: Code
  /// The message for users: one sentence with the problem and its solution.
  public let message: String
  /// Details for developers, such as numbers, names and places; may be empty.
  public let debug: String
  let file: String
  let function: String
  let line: Int

  /// Creates an error that refers to the calling source line.
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

  /// The message, and the details in parentheses.
  public var description: String { debug.isEmpty ? message : "\(message) (\(debug))" }
}

/// An error of another target that has a GStreamer domain and code.
public protocol ElementErrorConvertible: Error {
  /// The error to post.
  var elementError: ElementError { get }
}

extension ElementError: ElementErrorConvertible {
  /// The error itself.
  public var elementError: ElementError { self }

  /// Converts an error for posting: by its own conversion, or as a failed stream.
  init(_ error: any Error) {
    self =
      (error as? any ElementErrorConvertible)?.elementError
      ?? ElementError(.failedStream, "\(error)")
  }
}

extension ElementError.Code {
  private static func core(_ code: GstCoreError) -> Self {
    Self(domain: .core, rawValue: Int32(truncatingIfNeeded: code.rawValue))
  }

  private static func library(_ code: GstLibraryError) -> Self {
    Self(domain: .library, rawValue: Int32(truncatingIfNeeded: code.rawValue))
  }

  private static func resource(_ code: GstResourceError) -> Self {
    Self(domain: .resource, rawValue: Int32(truncatingIfNeeded: code.rawValue))
  }

  private static func stream(_ code: GstStreamError) -> Self {
    Self(domain: .stream, rawValue: Int32(truncatingIfNeeded: code.rawValue))
  }

  /// `GST_STREAM_ERROR_DEMUX`: the container cannot be read.
  public static let demux = stream(GST_STREAM_ERROR_DEMUX)
  /// `GST_STREAM_ERROR_MUX`: the container cannot be written.
  public static let mux = stream(GST_STREAM_ERROR_MUX)
  /// `GST_STREAM_ERROR_ENCODE`
  public static let encode = stream(GST_STREAM_ERROR_ENCODE)
  /// `GST_STREAM_ERROR_DECODE`
  public static let decode = stream(GST_STREAM_ERROR_DECODE)
  /// `GST_STREAM_ERROR_FORMAT`: the data is not in the announced format, or cannot be used.
  public static let format = stream(GST_STREAM_ERROR_FORMAT)
  /// `GST_STREAM_ERROR_WRONG_TYPE`: the element does not handle such streams.
  public static let wrongType = stream(GST_STREAM_ERROR_WRONG_TYPE)
  /// `GST_STREAM_ERROR_FAILED`: the stream cannot continue for some other reason.
  public static let failedStream = stream(GST_STREAM_ERROR_FAILED)
  /// `GST_LIBRARY_ERROR_SETTINGS`: properties have values that cannot be used.
  public static let settings = library(GST_LIBRARY_ERROR_SETTINGS)
  /// `GST_RESOURCE_ERROR_NOT_FOUND`
  public static let notFound = resource(GST_RESOURCE_ERROR_NOT_FOUND)
  /// `GST_RESOURCE_ERROR_READ`
  public static let read = resource(GST_RESOURCE_ERROR_READ)
  /// `GST_RESOURCE_ERROR_WRITE`
  public static let write = resource(GST_RESOURCE_ERROR_WRITE)
  /// `GST_RESOURCE_ERROR_NO_SPACE_LEFT`
  public static let noSpaceLeft = resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT)
  /// `GST_RESOURCE_ERROR_SEEK`
  public static let seek = resource(GST_RESOURCE_ERROR_SEEK)
  /// `GST_CORE_ERROR_FAILED`
  public static let failed = core(GST_CORE_ERROR_FAILED)
  /// `GST_CORE_ERROR_STATE_CHANGE`
  public static let stateChange = core(GST_CORE_ERROR_STATE_CHANGE)
  /// `GST_CORE_ERROR_NEGOTIATION`: elements have no caps in common.
  public static let negotiation = core(GST_CORE_ERROR_NEGOTIATION)
  /// `GST_CORE_ERROR_PAD`: a pad cannot be created or linked.
  public static let pad = core(GST_CORE_ERROR_PAD)
  /// `GST_CORE_ERROR_MISSING_PLUGIN`
  public static let missingPlugin = core(GST_CORE_ERROR_MISSING_PLUGIN)

  var domainAndCode: (GQuark, Int32) {
    let quark =
      switch domain {
      case .core: gst_core_error_quark()
      case .library: gst_library_error_quark()
      case .resource: gst_resource_error_quark()
      case .stream: gst_stream_error_quark()
      }
    return (quark, rawValue)
  }
}

/// The result of passing data through a pad: `GstFlowReturn`. Anything but `ok` is thrown.
public struct FlowReturn: RawRepresentable, Error, Equatable, Sendable {
  /// The value of `GstFlowReturn`.
  public let rawValue: Int32

  /// Creates a result from its value.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  init(_ flow: GstFlowReturn) {
    rawValue = flow.rawValue
  }

  var cValue: GstFlowReturn { GstFlowReturn(rawValue: rawValue) }

  /// `GST_FLOW_OK`: the data was accepted.
  public static let ok = FlowReturn(GST_FLOW_OK)
  /// `GST_FLOW_NOT_LINKED`: the pad has no peer.
  public static let notLinked = FlowReturn(GST_FLOW_NOT_LINKED)
  /// `GST_FLOW_FLUSHING`: the pad is flushing.
  public static let flushing = FlowReturn(GST_FLOW_FLUSHING)
  /// `GST_FLOW_EOS`: the pad has reached the end of its stream.
  public static let eos = FlowReturn(GST_FLOW_EOS)
  /// `GST_FLOW_NOT_NEGOTIATED`: the caps are missing or not acceptable.
  public static let notNegotiated = FlowReturn(GST_FLOW_NOT_NEGOTIATED)
  /// `GST_FLOW_ERROR`: an element has posted an error message.
  public static let error = FlowReturn(GST_FLOW_ERROR)
  /// `GST_AGGREGATOR_FLOW_NEED_DATA`: the aggregator needs more input.
  public static let needData = FlowReturn(rawValue: GST_FLOW_CUSTOM_ERROR.rawValue)

  /// Throws this value unless it is `ok`.
  public func check() throws(FlowReturn) {
    if self != .ok { throw self }
  }
}

extension FlowReturn: CustomStringConvertible {
  /// GStreamer's name of the result, such as `not-linked`.
  public var description: String { String(cString: gst_flow_get_name(cValue)) }
}

// SPDX-License-Identifier: MPL-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A client's connection, which serves its requests one after the other.
struct Connection: Sendable {
  private let channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
  private let limits: WebServerLimits
  private let observer: (any WebObserver)?
  private let responder: any WebResponder
  /// The numeric address of the client.
  private let client: String?

  /// Size in bytes of the pieces in which a file is read and sent.
  private static let pieceSize: UInt64 = 1 << 18

  /// Sets up a channel on its event loop.
  init(
    _ channel: any Channel, _ limits: WebServerLimits, _ observer: (any WebObserver)?,
    _ responder: any WebResponder
  ) throws {
    (self.limits, self.observer, self.responder) = (limits, observer, responder)
    client = channel.remoteAddress?.ipAddress
    var decoder = NIOHTTPDecoderLimitConfiguration()
    decoder.maxHeaderFieldSize = limits.maximumHeadSize
    decoder.maxHeaderListSize = limits.maximumHeadSize
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withEncoderConfiguration: HTTPResponseEncoder.Configuration(),
      withDecoderLimitConfiguration: decoder)
    try pipeline.addHandler(SlowClientGuard(patience: limits.patience))
    self.channel = try NIOAsyncChannel(wrappingChannelSynchronously: channel)
  }

  /// Answers requests until the client disconnects or violates a limit, then closes the connection.
  func serve() async {
    // Errors of a connection affect only its client.
    try? await channel.executeThenClose { parts, _ in
      var parts = parts.makeAsyncIterator()
      while case .head(let head)? = try await parts.next() {
        let begin = ContinuousClock.now
        observer?.began()
        var (status, sent) = (499, UInt64(0))
        defer { tell(head, status, sent, since: begin) }
        guard try await skipBody(&parts) else {
          status = WebResponse.Status.contentTooLarge.rawValue
          try await send(WebResponse(.contentTooLarge), to: head, isLast: true, &sent)
          return
        }
        let response = await answer(head)
        try Task.checkCancellation()
        status = response.status.rawValue
        try await send(response, to: head, isLast: !head.isKeepAlive, &sent)
        guard head.isKeepAlive else { return }
      }
    }
  }

  private func tell(
    _ head: HTTPRequestHead, _ status: Int, _ bytes: UInt64, since begin: ContinuousClock.Instant
  ) {
    observer?.ended(
      WebExchange(
        client: client, method: head.method.rawValue, target: head.uri,
        version: "HTTP/\(head.version.major).\(head.version.minor)",
        userAgent: head.headers.first(name: "User-Agent"), status: status, bytes: bytes,
        duration: begin.duration(to: .now)))
  }

  /// Reads and drops a request's body. Returns false if the body is too large or incomplete.
  private func skipBody(
    _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  ) async throws -> Bool {
    var size = 0
    while let part = try await parts.next() {
      switch part {
      case .head: return false
      case .body(let bytes): size += bytes.readableBytes
      case .end: return true
      }
      guard size <= limits.maximumHeadSize else { return false }
    }
    return false
  }

  private func answer(_ head: HTTPRequestHead) async -> WebResponse {
    guard let method = WebRequest.Method(rawValue: head.method.rawValue) else {
      return WebResponse(.methodNotAllowed, headers: [("Allow", "GET, HEAD, OPTIONS")])
    }
    let headers = head.headers.map { (name: $0.name, value: $0.value) }
    // RFC 9112 3.2: exactly one, from HTTP/1.1 on.
    let hosts = head.headers["Host"].count
    guard hosts == 1 || hosts == 0 && head.version == .http1_0,
      let request = WebRequest(method, head.uri, headers: headers, client: client)
    else {
      return WebResponse(.badRequest)
    }
    return await responder.respond(to: request)
  }

  /// - Parameter sent: The number of bytes of content that were sent is added to it.
  private func send(
    _ response: WebResponse, to request: HTTPRequestHead, isLast: Bool, _ sent: inout UInt64
  ) async throws {
    var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
    headers.add(name: "Date", value: HTTPDate.now)
    headers.add(name: "Content-Length", value: String(response.length))
    if isLast { headers.add(name: "Connection", value: "close") }
    let status = HTTPResponseStatus(statusCode: response.status.rawValue)
    try await write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
    if request.method != .HEAD, response.length > 0 {
      switch response.body {
      case .bytes(let bytes):
        try await write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
        sent += response.length
      case .file(let file, let range): try await write(file, range, &sent)
      }
    }
    try await write(.end(nil))
  }

  private func write(
    _ file: OpenFile, _ range: Range<UInt64>, _ sent: inout UInt64
  ) async throws {
    var place = range.lowerBound
    while place < range.upperBound {
      let piece = place..<min(place + Self.pieceSize, range.upperBound)
      let bytes = try await NIOThreadPool.singleton.runIfActive { try file.read(piece) }
      // Content-Length has been sent: if the file has become shorter, the connection is closed.
      guard bytes.count == piece.count else { throw ChannelError.eof }
      try await write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
      sent += UInt64(piece.count)
      place = piece.upperBound
    }
  }

  /// Writes a part and waits until the system has accepted it.
  private func write(_ part: HTTPServerResponsePart) async throws {
    try await channel.channel.writeAndFlush(part).get()
  }
}

/// Closes the connection of a client that is too slow to send a complete request or to receive a
/// response.
final class SlowClientGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let patience: TimeAmount
  private var deadline: Scheduled<Void>?
  /// Whether a complete request is being answered, so that the client waits for the server.
  private var isAnswering = false
  /// Number of writes that have not completed yet.
  private var outstanding = 0

  init(patience: Duration) {
    self.patience = TimeAmount(patience)
  }

  func channelActive(context: ChannelHandlerContext) {
    update(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .end = unwrapInboundIn(data) {
      isAnswering = true
      update(context)
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { isAnswering = false }
    outstanding += 1
    update(context)
    let written = promise ?? context.eventLoop.makePromise()
    let (bound, watch) = (context.loopBound, NIOLoopBound(self, eventLoop: context.eventLoop))
    written.futureResult.whenSuccess {
      watch.value.outstanding -= 1
      watch.value.update(bound.value)
    }
    context.write(data, promise: written)
  }

  /// Restarts the timer if it is the client's turn.
  private func update(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    guard outstanding > 0 || !isAnswering else { return }
    let bound = context.loopBound
    deadline = context.eventLoop.scheduleTask(in: patience) { bound.value.close(promise: nil) }
  }
}

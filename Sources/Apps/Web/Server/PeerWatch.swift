// SPDX-License-Identifier: MPL-2.0

internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose peer lets itself be waited for: for the whole head of a request, or to
/// take what it has been sent.
final class PeerWatch: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let patience: TimeAmount
  private var deadline: Scheduled<Void>?
  /// The peer waits for us: its request is complete, and its answer is not.
  private var isAnswering = false
  /// How many writes the peer has not taken yet.
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

  /// Gives the peer its time anew, where it is to do something.
  private func update(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    guard outstanding > 0 || !isAnswering else { return }
    let bound = context.loopBound
    deadline = context.eventLoop.scheduleTask(in: patience) { bound.value.close(promise: nil) }
  }
}

// SPDX-License-Identifier: MPL-2.0

/// What a server bears from its peers.
public struct WebServerLimits: Sendable {
  /// So many are connected at the same time; a further one is turned away at once.
  public var connections = 256
  /// Of the first line and the headers of a request, in bytes.
  public var headSize = 16_384
  /// How long is waited for a peer to send the whole head of a request, or to take some of what it is
  /// sent.
  public var patience = Duration.seconds(30)

  public init() {}
}

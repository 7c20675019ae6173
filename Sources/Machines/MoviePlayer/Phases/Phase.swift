// SPDX-License-Identifier: MPL-2.0

/// What a player is at, with what belongs to that alone.
enum Phase: ~Copyable, Sendable {
  /// A source that can be read anywhere: its index is looked for.
  case opening(Boxed<Opening>)
  /// A stream: what it is, and its index, are looked for.
  case probing(Boxed<Probing>)
  /// A movie in a source that can be read anywhere.
  case readMovie(Boxed<ReadMovie>)
  /// A movie that comes as a stream.
  case streamedMovie(Boxed<StreamedMovie>)
  /// H.265 without a container.
  case elementary(Boxed<ElementaryPlayback>)
}

/// What a phase came to.
enum Progress: ~Copyable {
  /// Something has changed, and perhaps been given: there is more to do.
  case again
  /// Something else begins.
  case phase(Phase)
  /// The player cannot go on before this has been done.
  case wait(PlayerStep)
}

/// What a source gave for a request.
struct ReadAnswer: Sendable {
  /// The first byte that was asked for.
  var offset: UInt64
  /// What there is from there on; nil where there is nothing.
  var slice: ByteSlice?
}

/// Tells by its first bytes whether a connection speaks this transport's framing.
enum FirstBytes {
  /// Not to be told yet: so far the bytes are those of a preamble.
  case undecided
  /// The preamble's name was read.
  case framed
  /// Something else, such as a request of HTTP.
  case foreign

  /// Looks at what a connection has sent so far.
  ///
  /// Only the name of the preamble is compared. Its version is left to ``FrameReader``, which
  /// reports another one as a foreign peer.
  ///
  /// - Parameter bytes: Everything since the connection began, not only the newest bytes.
  init(_ bytes: some Sequence<UInt8>) {
    var expected = FrameReader.preamble.prefix(Self.nameBytes).makeIterator()
    for byte in bytes {
      guard let next = expected.next() else { break }
      if byte != next {
        self = .foreign
        return
      }
    }
    self = expected.next() == nil ? .framed : .undecided
  }

  /// The bytes of the preamble that no other protocol begins with: `TERN`. No request line of
  /// HTTP, no TLS record and no preface of HTTP/2 (`PRI `) begins so.
  private static let nameBytes = 4
}

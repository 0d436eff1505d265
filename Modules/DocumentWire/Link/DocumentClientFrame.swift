package import TernCore

/// A frame from a client on a link: calls, side by side. Source: Docs/Formats/document-wire.md.
///
/// `stream` is the call number, which the client chooses and which is valid on one link only. It is
/// a name for the call, not for a stream of durable writes. A server ignores frames that name a
/// call that has ended, because the end and the frame may cross on the way.
package enum DocumentClientFrame: Hashable, Sendable {
  /// Begins a call. Its number is above those of all calls before it on the link.
  case open(stream: UInt32, DocumentCallOpening)
  /// A message of a call, as ``DocumentRequest/encode()`` made it.
  case message(stream: UInt32, [UInt8])
  /// The client has nothing more to say in a call.
  case halfClose(stream: UInt32)
  /// The client no longer wants an answer; none follows.
  case cancel(stream: UInt32)
  /// Asks for a pong, to see whether the other end is alive.
  case ping
}

/// The opening of a call.
package struct DocumentCallOpening: Hashable, Sendable {
  /// The called method, by ``DocumentMethod/rawValue``; also one that the other end does not know.
  package var method: String
  /// Headers in the sense of gRPC, names in lower case.
  package var metadata: [Entry]
  /// The only message of the call, after which the client has nothing more to say; `nil` for
  /// calls whose messages follow.
  package var message: [UInt8]?

  /// Describes a call of a method that is known here; clients use it.
  package init(_ method: DocumentMethod, metadata: [Entry] = [], message: [UInt8]? = nil) {
    self.init(method: method.rawValue, metadata: metadata, message: message)
  }

  /// Describes a call as it was read; the method may be unknown, which the server answers with
  /// UNIMPLEMENTED for the call alone.
  package init(method: String, metadata: [Entry], message: [UInt8]?) {
    self.method = method
    self.metadata = metadata
    self.message = message
  }

  /// One pair of metadata.
  ///
  /// `authorization` carries the credential; the last pair of that name counts.
  package struct Entry: Hashable, Sendable {
    /// The header's name in lower case.
    package var name: String
    /// The header's value; text, because the frame has no form for binary headers.
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

/// A frame from a server on a link. Source: Docs/Formats/document-wire.md.
///
/// A call gets any number of ``message(stream:_:)`` and one ``end(stream:_:)``, or one
/// ``answer(stream:_:)`` that is both. Nothing of the call follows either of the two. A call that
/// the client has cancelled gets no further frame, apart from those that were sent before.
package enum DocumentServerFrame: Hashable, Sendable {
  /// A message of a call, as ``DocumentResponse/encode(_:)`` made it.
  case message(stream: UInt32, [UInt8])
  /// The only message of a call, and its good end.
  case answer(stream: UInt32, [UInt8])
  /// The end of a call; `nil` when it went well.
  case end(stream: UInt32, DocumentStatus?)
  /// The answer to a ping.
  case pong
}

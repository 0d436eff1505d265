extension DocumentClientFrame {
  /// Reads a frame from a client. Its message may be too large: that ends the call, not the link.
  ///
  /// The message of a frame is handed out without a check of its size: the server compares it with
  /// ``DocumentWireLimits/requestBytes`` when it decodes the request, and then ends the call alone.
  /// Metadata have no such second check, so their limits apply here.
  ///
  /// - Parameter frame: One whole frame, its kind included.
  /// - Throws: ``DocumentWireError``; the link is of no use any more.
  /// - Complexity: O(*n*) in the bytes of the frame; copies the message once.
  package static func decode(_ frame: [UInt8]) throws(DocumentWireError) -> DocumentClientFrame {
    var (kind, body) = try FrameBody.open(frame)
    switch kind {
    case .open:
      let stream = try body.number()
      let opening = try DocumentCallOpening(&body)
      try body.finish()
      return .open(stream: stream, opening)
    case .openWithMessage:
      let stream = try body.number()
      var opening = try DocumentCallOpening(&body)
      opening.message = body.rest()
      return .open(stream: stream, opening)
    case .requestMessage:
      let stream = try body.number()
      return .message(stream: stream, body.rest())
    case .halfClose, .cancel:
      let stream = try body.number()
      try body.finish()
      return kind == .cancel ? .cancel(stream: stream) : .halfClose(stream: stream)
    case .ping:
      try body.finish()
      return .ping
    // A client that sends a server's kind has lost its place or speaks something else.
    case .responseMessage, .answer, .end, .pong: throw .malformed(.frame)
    }
  }

  /// The bytes of the frame.
  ///
  /// The size of a message is not checked: the other end refuses the call when it exceeds its
  /// limit.
  package func encode() -> [UInt8] {
    switch self {
    case .open(let stream, let opening):
      let size = opening.message?.count ?? 0
      var builder = FrameBuilder(
        opening.message == nil ? .open : .openWithMessage, stream: stream, bodyBytes: size + 64)
      opening.write(to: &builder)
      return builder.bytes
    case .message(let stream, let message):
      var builder = FrameBuilder(.requestMessage, stream: stream, bodyBytes: message.count)
      builder.rest(message)
      return builder.bytes
    case .halfClose(let stream): return FrameBuilder(.halfClose, stream: stream).bytes
    case .cancel(let stream): return FrameBuilder(.cancel, stream: stream).bytes
    case .ping: return FrameBuilder(.ping).bytes
    }
  }
}

extension FrameBody {
  /// Everything that is left, as a message.
  ///
  /// - Parameter limit: The most bytes of the message.
  /// - Throws: ``DocumentWireError/tooLarge(byteCount:limit:)``, after the frame was read to its
  ///   end.
  mutating func message(limit: Int) throws(DocumentWireError) -> [UInt8] {
    let message = rest()
    if message.count > limit { throw .tooLarge(byteCount: message.count, limit: limit) }
    return message
  }
}

extension DocumentCallOpening {
  /// Reads method and metadata; a message, if the kind of the frame has one, is what is left behind
  /// them.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` for more than
  ///   ``DocumentWireLimits/metadataPairs`` pairs, ``DocumentWireError/tooLarge(byteCount:limit:)``
  ///   for more than ``DocumentWireLimits/metadataBytes`` bytes of names and values together.
  fileprivate init(_ body: inout FrameBody) throws(DocumentWireError) {
    let method = try body.text()
    let count = Int(try body.number())
    // The count is the client's claim. It is checked before the loop that it drives.
    if count > DocumentWireLimits.metadataPairs { throw .malformed(.frame) }
    var metadata: [Entry] = []
    var size = 0
    for _ in 0..<count {
      let entry = Entry(try body.text(), try body.text())
      size += entry.name.utf8.count + entry.value.utf8.count
      let limit = DocumentWireLimits.metadataBytes
      if size > limit { throw .tooLarge(byteCount: size, limit: limit) }
      metadata.append(entry)
    }
    self.init(method: method, metadata: metadata, message: nil)
  }

  /// Writes method, count of metadata, names and values, and the message in last place.
  fileprivate func write(to builder: inout FrameBuilder) {
    builder.text(method)
    builder.number(UInt32(metadata.count))
    for entry in metadata {
      builder.text(entry.name)
      builder.text(entry.value)
    }
    if let message { builder.rest(message) }
  }
}

import TernCore

extension DocumentServerFrame {
  /// Reads a frame from a server.
  ///
  /// Unlike ``DocumentClientFrame/decode(_:)`` this checks the size of the message: a client that
  /// cannot take a message of its server cannot go on with the link.
  ///
  /// - Parameters:
  ///   - frame: One whole frame, its kind included.
  ///   - limit: The most bytes of its message.
  /// - Throws: ``DocumentWireError``; the link is of no use any more.
  package static func decode(
    _ frame: [UInt8], limit: Int = DocumentWireLimits.messageBytes
  ) throws(DocumentWireError) -> DocumentServerFrame {
    var (kind, body) = try FrameBody.open(frame)
    switch kind {
    case .responseMessage, .answer:
      let stream = try body.number()
      let message = try body.message(limit: limit)
      return kind == .answer
        ? .answer(stream: stream, message) : .message(stream: stream, message)
    case .end:
      let stream = try body.number()
      let code = try body.number()
      let text = try body.text()
      try body.finish()
      return .end(stream: stream, DocumentStatus(wireCode: Int(code), text))
    case .pong:
      try body.finish()
      return .pong
    // A server that sends a client's kind is not one.
    case .open, .openWithMessage, .requestMessage, .halfClose, .cancel, .ping:
      throw .malformed(.frame)
    }
  }

  /// The bytes of the frame.
  ///
  /// The text of a status is cut to ``DocumentWireLimits/statusBytes``, because it may quote names
  /// and values of the request. The code is never cut, so the meaning stays.
  package func encode() -> [UInt8] {
    switch self {
    case .message(let stream, let message), .answer(let stream, let message):
      var kind = FrameKind.responseMessage
      if case .answer = self { kind = .answer }
      var builder = FrameBuilder(kind, stream: stream, bodyBytes: message.count)
      builder.rest(message)
      return builder.bytes
    case .end(let stream, let status):
      var builder = FrameBuilder(.end, stream: stream)
      builder.number(UInt32(status?.code.rawValue ?? 0))
      builder.text(status?.message.prefixed(bytes: DocumentWireLimits.statusBytes) ?? "")
      return builder.bytes
    case .pong: return FrameBuilder(.pong).bytes
    }
  }
}

extension String {
  /// The longest beginning of at most so many bytes that ends between characters.
  ///
  /// It ends between scalars, so that the result is valid UTF-8; a grapheme cluster may be cut.
  fileprivate func prefixed(bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var text = String.UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars {
      count += UTF8.width(scalar)
      if count > limit { break }
      text.append(scalar)
    }
    return String(text)
  }
}

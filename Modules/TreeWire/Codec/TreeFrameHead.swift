import TernCore

/// The head of a frame of the tree: what it is about, without its data.
///
/// Nodes that relay frames route them by it and leave the data to the node that serves the request.
package enum TreeFrameHead: Hashable, Sendable {
  /// The smallest frame, which says that its sender is there.
  case keepAlive
  /// A control message by its letter, such as `o` for an opening and `h` for a handshake.
  case control(String)
  /// A request or a response by its number; responses have no action.
  case numbered(UInt64, action: String?)
  /// A message of a server that answers no request, by its action.
  case push(String)
  /// No message.
  case malformed

  /// Reads the head of a frame.
  ///
  /// - Complexity: O(*n*) in the bytes of the frame, whose data are skipped and not built.
  package init(_ frame: [UInt8]) {
    if frame == [UInt8(ascii: "0")] {
      self = .keepAlive
      return
    }
    guard let envelope = try? Envelope(frame) else {
      self = .malformed
      return
    }
    if envelope.type == "c" {
      self = .control(envelope.control)
    } else if let number = envelope.request {
      self = .numbered(number, action: envelope.action)
    } else {
      self = envelope.action.map { .push($0) } ?? .malformed
    }
  }

  /// Reads the head of a request whose number and action come before its data, and nothing of
  /// these; `nil` for every other frame.
  ///
  /// It reads the order of members that ``TreeClientMessage/encode()`` and stock clients write.
  /// Another order is no error: the caller reads the frame as a whole then.
  ///
  /// - Complexity: O(length of the head), however long the frame is.
  package init?(beforeDataOf frame: [UInt8]) {
    var reader = JSONReader(frame)
    var (number, action): (UInt64?, String?)
    do {
      try reader.beginObject()
      // Anything before `t` would have to be skipped, and could be as long as the frame.
      guard try reader.nextKey() == "t", try reader.wireText() == "d",
        try reader.nextKey() == "d"
      else { return nil }
      try reader.beginObject()
      while let key = try reader.nextKey() {
        switch key {
        case "r": number = try reader.wireNumber()
        case "a": action = try reader.wireText()
        case "b":
          guard let number, let action else { return nil }
          self = .numbered(number, action: action)
          return
        default: return nil
        }
      }
    } catch {
      return nil
    }
    return nil
  }
}

/// The reason a link ended.
public enum LinkClosure: Error, Hashable, Sendable {
  /// This end called ``Link/close()``, or its transport was shut down.
  case closedHere
  /// The other end closed after a whole frame: all it sent has arrived.
  case closedByPeer
  /// The connection broke (reset, keep-alive failure, end within a frame): frames may be lost
  /// in both directions. The text is the system's reason. Connect again.
  case lost(String)
  /// A frame of `bytes` was announced by the peer or handed to `Link.send(_:)` here.
  case frameTooLarge(bytes: Int, limitBytes: Int)
  /// The other end does not speak this protocol, or speaks another version of it. The bytes
  /// are what it opened with, at most eight.
  case foreignPeer([UInt8])
  /// All links of the transport together hold too much of frames that are not whole yet, and this
  /// one wanted more. Connect again later.
  case overloaded(limitBytes: Int)
  /// The other end connected and did not introduce itself in time.
  case silentPeer
}

extension LinkClosure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closedHere: "closed here"
    case .closedByPeer: "closed by the peer"
    case .lost(let reason): "lost: \(reason)"
    case .frameTooLarge(let bytes, let limit):
      "a frame of \(bytes) bytes is over the limit of \(limit)"
    case .foreignPeer(let bytes): "the peer speaks another protocol; it began with \(bytes)"
    case .overloaded(let limit):
      "the frames that all links are receiving are over the limit of \(limit) bytes"
    case .silentPeer: "the peer did not introduce itself"
    }
  }
}

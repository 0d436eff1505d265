import TernTreeWire

/// An encoded push, shared by all of its recipients: its data are encoded once, and a tag is put
/// in where the body ends.
///
/// A push ends with `}}}`, the ends of the body and of the two objects around it. A tag is the
/// member `t` of the body, so it goes in front of those bytes, and nothing is encoded again.
struct PushFrame {
  /// The frame without a tag.
  let plain: [UInt8]
  /// True until the frame without a tag was sent to a link.
  var isNew = true
  /// Short frames for tags asked for so far; few clients count far.
  ///
  /// Clients number their queries from 1, so listeners of one query often use the same tag.
  private var tagged: [Int64: [UInt8]] = [:]

  init(_ message: TreeServerMessage) {
    plain = message.encode()
  }

  /// True when all frames together may be long: each is made for its recipients alone.
  var isLong: Bool { plain.count >= PushBounds.countedBytes }

  /// The bytes of the frame for listens of that tag.
  func byteCount(tag: Int64) -> Int { plain.count + Self.text(tag).utf8.count }

  /// The frame for listens of that tag.
  mutating func frame(tag: Int64) -> [UInt8] {
    if let frame = tagged[tag] { return frame }
    let end = Array("}}}".utf8)
    precondition(plain.suffix(3).elementsEqual(end), "a push ends with its body")
    let text = Self.text(tag)
    var frame: [UInt8] = []
    frame.reserveCapacity(plain.count + text.utf8.count)
    frame.append(contentsOf: plain.dropLast(end.count))
    frame.append(contentsOf: text.utf8)
    frame.append(contentsOf: end)
    if !isLong { tagged[tag] = frame }
    return frame
  }

  private static func text(_ tag: Int64) -> String { ",\"t\":\(tag)" }
}

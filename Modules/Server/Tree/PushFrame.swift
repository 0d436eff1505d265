import TernTreeWire

/// An encoded push, shared by all of its recipients.
struct PushFrame {
  /// The frame without a tag.
  let plain: [UInt8]
  /// Frames for tags asked for so far; few clients count far.
  private var tagged: [Int64: [UInt8]] = [:]

  init(_ message: TreeServerMessage) {
    plain = message.encode()
  }

  /// The frame for the listen of that tag: the tag is put in where the body ends.
  mutating func frame(tag: Int64) -> [UInt8] {
    if let frame = tagged[tag] { return frame }
    let end = Array("}}}".utf8)
    precondition(plain.suffix(3).elementsEqual(end), "a push ends with its body")
    var frame = plain
    frame.removeLast(end.count)
    frame.append(contentsOf: ",\"t\":\(tag)".utf8)
    frame.append(contentsOf: end)
    tagged[tag] = frame
    return frame
  }
}

/// The framing of response bodies: a length in UTF-16 code units, a line feed, JSON text.
///
/// Source: firestore-server reference, section 4.3.
enum WebChannelChunk {
  /// The header fields of every response. Proxies must neither keep nor delay the body.
  static let headers: HTTPFields = [
    ("Content-Type", "text/plain; charset=utf-8"),
    ("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate"),
    ("X-Content-Type-Options", "nosniff"), ("X-Accel-Buffering", "no"),
  ]

  /// Returns a chunk of JSON text.
  static func framed(_ json: [UInt8]) -> [UInt8] {
    var chunk = head(lengthInUTF16(json))
    chunk.reserveCapacity(chunk.count + json.count)
    chunk += json
    return chunk
  }

  /// The most bytes of a chunk beside its arrays and what separates them: the length with its line
  /// feed, and the last bracket.
  static let mostHeadBytes = 22

  /// Returns the beginning of a chunk whose text has so many UTF-16 code units.
  static func head(_ lengthInUTF16: Int) -> [UInt8] { Array("\(lengthInUTF16)\n".utf8) }

  /// Returns the number of UTF-16 code units of UTF-8 text: one for each character, and one more
  /// for those beyond the basic plane.
  static func lengthInUTF16(_ text: [UInt8]) -> Int {
    var length = 0
    for byte in text {
      if byte & 0xC0 != 0x80 { length += 1 }
      if byte >= 0xF0 { length += 1 }
    }
    return length
  }
}

extension OrderedBytes {
  /// Appends one name of a field path; ``endPath(_:)`` ends the path.
  package static func appendFieldName(_ name: Span<UInt8>, to out: inout [UInt8]) {
    out.append(self.name)
    appendEscaped(name, to: &out)
  }

  /// Ends a field path, or the segments of a path.
  package static func endPath(_ out: inout [UInt8]) { out.append(end) }

  /// Appends what the encoding of a text or of bytes begins with, without reading more than
  /// `limit` bytes of it.
  ///
  /// - Returns: `false` when the value is neither, or not longer than `limit`: then nothing was
  ///   appended.
  package static func appendBeginning(
    of bytes: Span<UInt8>, at offset: Int, limit: Int, to out: inout [UInt8]
  ) -> Bool {
    guard let range = Packed.text(bytes, at: offset), range.count > limit else { return false }
    out.append(firstByte(ofRank: Packed.rank(bytes, at: offset)))
    for index in range.lowerBound..<range.lowerBound + limit {
      out.append(bytes[index])
      if bytes[index] == 0 { out.append(0xFF) }
    }
    return true
  }

  /// Reads back the path whose segments begin at `offset`, up to its end or that of the bytes.
  ///
  /// - Returns: The segments joined by `/`; `nil` when the bytes are none.
  package static func path(_ bytes: Span<UInt8>, from offset: Int) -> String? {
    var text: [UInt8] = []
    var index = offset
    while index < bytes.count, bytes[index] != end {
      if index > offset { text.append(UInt8(ascii: "/")) }
      switch bytes[index] {
      case segment: index += 1
      case numberSegment: index += 9
      default: return nil
      }
      guard unescape(bytes, &index, to: &text) else { return nil }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads escaped bytes up to their end, `00 01`; false when the bytes end first.
  private static func unescape(
    _ bytes: Span<UInt8>, _ index: inout Int, to text: inout [UInt8]
  ) -> Bool {
    while index + 1 < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte != 0 {
        text.append(byte)
        continue
      }
      index += 1
      if bytes[index - 1] == 1 { return true }
      text.append(0)
    }
    return false
  }

  /// Bytes no longer than `limit`: what is longer is cut, and its hash stands for the rest.
  ///
  /// - Parameter limit: At least 21.
  package static func abbreviated(_ bytes: [UInt8], to limit: Int) -> [UInt8] {
    if bytes.count <= limit { return bytes }
    var digest = SHA1()
    digest.update(bytes)
    return bytes.prefix(limit - 20) + digest.digest()
  }

  /// The beginning of a field path, which grows name by name and is abbreviated at its end.
  ///
  /// A further name costs its own bytes, however long the path above it is.
  package struct FieldPrefix {
    private let limit: Int
    /// The first bytes of the path, at most ``limit`` of them.
    private var head: [UInt8] = []
    /// The hash of all bytes so far; `nil` while ``head`` has them all.
    private var digest: SHA1?

    /// The prefix of all paths.
    ///
    /// - Parameter limit: The most bytes of a path, at least 21.
    package init(limit: Int) { self.limit = limit }

    /// Returns the prefix of the fields in a map.
    package func appending(_ name: Span<UInt8>) -> FieldPrefix {
      var bytes: [UInt8] = []
      OrderedBytes.appendFieldName(name, to: &bytes)
      var prefix = self
      prefix.append(bytes)
      return prefix
    }

    /// The bytes of the path that ends here: those of ``OrderedBytes/abbreviated(_:to:)``.
    package var path: [UInt8] {
      var whole = self
      whole.append([OrderedBytes.end])
      guard let digest = whole.digest else { return whole.head }
      return whole.head.prefix(limit - 20) + digest.digest()
    }

    private mutating func append(_ bytes: [UInt8]) {
      if digest == nil, head.count + bytes.count > limit {
        var beginning = SHA1()
        beginning.update(head)
        digest = beginning
      }
      digest?.update(bytes)
      head += bytes.prefix(limit - head.count)
    }
  }
}

extension Packed {
  /// Returns the position of the text or the bytes at `offset`; `nil` when the value is neither.
  static func text(_ bytes: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard bytes[offset] == Tag.string || bytes[offset] == Tag.bytes else { return nil }
    var start = offset + 1
    let size = count(bytes, &start)
    return start..<start + size
  }

  /// Visits the fields of the map at `offset`, if it is one: each name, and where its value is.
  ///
  /// - Returns: Whether there is a map.
  @discardableResult
  package static func forEachField(
    of bytes: Span<UInt8>, at offset: Int, _ body: (_ name: Span<UInt8>, _ value: Int) -> Void
  ) -> Bool {
    guard bytes[offset] == Tag.map else { return false }
    var next = offset + 1
    let size = count(bytes, &next)
    let end = next + size
    while next < end {
      let length = count(bytes, &next)
      let start = next
      next += length
      body(bytes.extracting(start..<next), next)
      skip(bytes, &next)
    }
    return true
  }
}

/// The segments of a path, joined by `/`: what keys and collection paths are made of.
///
/// An empty text is the path of the database itself. Equality is that of the bytes, order that of
/// ``PathOrder``.
struct PathText: Sendable {
  let text: String

  init(unchecked text: String) {
    self.text = text.contiguous
  }

  /// Checks a text; a slash at either end is dropped.
  ///
  /// - Throws: ``DocumentError/emptySegment(path:)`` and the errors about ids and lengths.
  init(_ text: String) throws(DocumentError) {
    if let count = PathText.plainSegments(text) {
      self.init(unchecked: text)
      try checkLengths(collections: (count + 1) / 2)
      return
    }
    var trimmed = Substring(text)
    if trimmed.utf8.first == UInt8(ascii: "/") { trimmed = trimmed.dropFirst() }
    if trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
    self.init(unchecked: String(trimmed))
    if self.text.isEmpty { return }
    let segments = self.segments
    for segment in segments {
      if segment.isEmpty { throw .emptySegment(path: text) }
      try PathText.checkID(segment)
    }
    try checkLengths(collections: (segments.count + 1) / 2)
  }

  /// The number of segments of a path that one look shows to be in order.
  ///
  /// - Returns: `nil` for a path that has to be looked at closely.
  private static func plainSegments(_ text: String) -> Int? {
    var (count, start) = (1, 0)
    var previous = UInt8(ascii: "/")
    for (index, byte) in text.utf8.enumerated() {
      switch (previous, byte) {
      // Empty segments, `.` and `..`, and reserved ones begin like this.
      case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "/"), UInt8(ascii: ".")),
        (UInt8(ascii: "/"), UInt8(ascii: "_")):
        return nil
      case (_, UInt8(ascii: "/")):
        count += 1
        start = index + 1
      default: if index - start >= DocumentLimits.idBytes { return nil }
      }
      previous = byte
    }
    return previous == UInt8(ascii: "/") ? nil : count
  }

  private func checkLengths(collections: Int) throws(DocumentError) {
    if text.utf8.count > DocumentLimits.nameBytes {
      throw .nameTooLong(byteCount: text.utf8.count, limit: DocumentLimits.nameBytes)
    }
    if collections > DocumentLimits.collectionDepth {
      throw .tooManyCollections(count: collections, limit: DocumentLimits.collectionDepth)
    }
  }

  /// - Throws: ``DocumentError/invalidID(_:)`` or ``DocumentError/idTooLong(byteCount:limit:)``.
  ///
  /// Checks one id: not empty, without a slash, neither `.` nor `..`, not reserved, and of a legal
  /// length.
  static func checkID(_ id: String) throws(DocumentError) {
    let bytes = id.utf8
    if bytes.isEmpty || id == "." || id == ".." || bytes.contains(UInt8(ascii: "/")) {
      throw .invalidID(id)
    }
    if id.isReservedID, !PathOrder.isNumber(id) { throw .invalidID(id) }
    if bytes.count > DocumentLimits.idBytes {
      throw .idTooLong(byteCount: bytes.count, limit: DocumentLimits.idBytes)
    }
  }

  var segments: [String] {
    text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  var segmentCount: Int {
    text.isEmpty ? 0 : text.utf8.count { $0 == UInt8(ascii: "/") } + 1
  }

  /// The segment after the last slash.
  var last: String {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return text }
    return String(text[text.utf8.index(after: slash)...])
  }

  /// Everything before the last slash; empty when there is none.
  var parent: PathText {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return PathText(unchecked: "")
    }
    return PathText(unchecked: String(text[..<slash]))
  }

  func appending(_ id: String) throws(DocumentError) -> PathText {
    try PathText.checkID(id)
    let path = PathText(unchecked: text.isEmpty ? id : text + "/" + id)
    try path.checkLengths(collections: (path.segmentCount + 1) / 2)
    return path
  }

  /// The size of the segments for limits: each its bytes and one.
  var byteCount: Int { text.isEmpty ? 0 : text.utf8.count + 1 }
}

extension PathText: Hashable, Comparable {
  static func == (left: PathText, right: PathText) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  static func < (left: PathText, right: PathText) -> Bool { left.compare(right) < 0 }

  func compare(_ other: PathText) -> Int {
    text.withSpan { left in other.text.withSpan { PathOrder.compare(left, $0) } }
  }

  func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String {
  /// True for an id that nothing may have, unless it is a number.
  ///
  /// Four underscores alone are an id like any other, and names that an older store had escaped
  /// keep theirs: `__esc…__`.
  package var isReservedID: Bool {
    isReserved && utf8.count > 4 && !utf8.starts(with: "__esc".utf8)
  }

  /// True when the text begins and ends with two underscores, four at least.
  package var isReserved: Bool {
    let bytes = utf8
    return bytes.count >= 4 && bytes.starts(with: "__".utf8)
      && bytes.suffix(2).elementsEqual("__".utf8)
  }
}

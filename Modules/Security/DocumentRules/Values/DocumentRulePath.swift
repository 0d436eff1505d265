package import TernCore

/// A path as rules see it: of a document, `/databases/D/documents/C/D`, or any other.
package struct DocumentRulePath: Sendable {
  /// The segments, without slashes around.
  package let segments: [String]

  /// A path of segments.
  package init(_ segments: [String]) { self.segments = segments }

  /// The path of a document.
  package init(_ key: DocumentKey, in databaseID: String) {
    segments = DocumentRulePath.prefix(databaseID) + DocumentRulePath.split(key.text)
  }

  /// The segments before the path of a document.
  package static func prefix(_ databaseID: String) -> [String] {
    ["databases", databaseID, "documents"]
  }

  /// Returns the segments of a text. Empty ones are left out, so several slashes count as one.
  package static func split(_ text: String) -> [String] {
    var segments: [String] = []
    let bytes = text.utf8
    var start = bytes.startIndex
    while true {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
      if start < end { segments.append(String(text[start..<end])) }
      if end == bytes.endIndex { return segments }
      start = bytes.index(after: end)
    }
  }

  /// The segments, each behind a slash.
  package var text: String { "/" + segments.joined(separator: "/") }

  /// The document that the path names in a database; `nil` when it names none there.
  ///
  /// A segment that contains a slash, which `$(…)` can make, must not change the number of
  /// segments: such a path names no document.
  ///
  /// - Returns: `nil` for a path of another database, of a collection, or with a segment that is no
  ///   id.
  package func documentKey(in databaseID: String) -> DocumentKey? {
    guard segments.count >= 5, segments[0] == "databases",
      segments[1].hasSameBytes(as: databaseID), segments[2] == "documents"
    else { return nil }
    let ids = segments[3...]
    guard ids.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) }) else { return nil }
    return try? DocumentKey(ids.joined(separator: "/"))
  }
}

extension DocumentRulePath: Hashable {
  package static func == (left: DocumentRulePath, right: DocumentRulePath) -> Bool {
    left.segments.count == right.segments.count
      && zip(left.segments, right.segments).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  package func hash(into hasher: inout Hasher) {
    for segment in segments { segment.hashBytes(into: &hasher) }
  }
}

import TernCore

/// The documents that a listen stream mentioned since the last snapshot, in order of first mention.
struct ToldDocuments: Sendable {
  private struct Entry: Sendable {
    let key: DocumentKey
    /// The contents; `nil` until a message brings some.
    var document: Document?
    /// The target that mentioned it first, and the others that did.
    let first: Int32
    var others: Set<Int32> = []
  }

  private var positions: [DocumentKey: Int] = [:]
  private var entries: [Entry] = []

  /// Notes that a target mentioned a document.
  ///
  /// Targets are told at different speeds: one may bring a document that another has told to be
  /// newer, or gone, already. What is missing at no version is to be forgotten in any case.
  mutating func note(_ key: DocumentKey, _ document: Document?, from target: Int32) {
    let end = entries.count
    let position = Self.read(&positions[key, default: end])
    if position == end {
      entries.append(Entry(key: key, document: document, first: target))
      return
    }
    if target != entries[position].first { entries[position].others.insert(target) }
    guard let document else { return }
    if document.version > .none, let kept = entries[position].document,
      kept.version > document.version
    {
      return
    }
    entries[position].document = document
  }

  private static func read(_ position: inout Int) -> Int { position }

  /// The documents with contents.
  var documents: [Document] { entries.compactMap(\.document) }

  /// Returns the documents that other targets mentioned alone.
  func keys(mentionedByNoneOf targets: Set<Int32>) -> Set<DocumentKey> {
    var found: Set<DocumentKey> = []
    // Neighbors were mostly mentioned by the same target.
    var last: (target: Int32, isOne: Bool)?
    for entry in entries {
      let isOne = last.flatMap { $0.target == entry.first ? $0.isOne : nil }
      let isFirstOne = isOne ?? targets.contains(entry.first)
      last = (entry.first, isFirstOne)
      if !isFirstOne, entry.others.isDisjoint(with: targets) { found.insert(entry.key) }
    }
    return found
  }
}

import TernCore
import TernQuery

/// The path of every document that a query can select, and the blocks of rules that match all of
/// them.
///
/// A block that matches only some of the documents proves nothing and is left out, even if its
/// statements allow everything.
struct PathProof {
  /// A part of the path.
  enum Part {
    case known(String)
    /// One segment, which may be anything.
    case any
    /// Any number of segments.
    case anyNumber
  }

  /// A block that matches every document, with what is known about its captures.
  struct Match {
    let allows: [DocumentRuleAllow]
    let captures: [ProvenValue]
  }

  /// The most recursive captures of a block that may match; more would take too many steps.
  private static let recursionLimit = 3

  /// The parts in order; at most one stands for any number of segments.
  private let parts: [Part]
  private let version: Int

  /// The path of the documents of a query, from the root of all databases on.
  init(of source: DocumentQuery.Source, in databaseID: String, version: Int) {
    self.version = version
    let prefix = DocumentRulePath.prefix(databaseID).map { Part.known($0) }
    if case .collection(let path) = source {
      parts = prefix + DocumentRulePath.split(path.text).map { .known($0) } + [.any]
    } else if case .group(let id) = source {
      parts = prefix + [.anyNumber, .known(id), .any]
    } else {
      // Documents of any collection.
      parts = prefix + [.anyNumber, .any, .any]
    }
  }

  /// Returns the blocks that match every document and have statements for a method, in the order of
  /// the file.
  func matches(
    _ blocks: [DocumentRuleMatch], for method: DocumentRuleMethods
  ) -> [Match] {
    var found: [Match] = []
    collect(blocks, [], for: method, into: &found)
    return found
  }

  /// Adds the matching blocks depth first, in the order in which
  /// ``DocumentRules/judge(_:state:budget:)`` would visit them.
  private func collect(
    _ blocks: [DocumentRuleMatch], _ outer: [DocumentRuleMatch.Segment],
    for method: DocumentRuleMethods, into found: inout [Match]
  ) {
    for block in blocks {
      let pattern = outer + block.segments
      let allows = block.allows.filter { !$0.methods.isDisjoint(with: method) }
      let recursions = pattern.count { if case .recursive = $0 { true } else { false } }
      if !allows.isEmpty, recursions <= Self.recursionLimit,
        let captures = captures(of: pattern[...], from: 0)
      {
        found.append(Match(allows: allows, captures: captures))
      }
      collect(block.matches, pattern, for: method, into: &found)
    }
  }

  /// Returns the captures of a pattern that matches every path, from a part on; `nil` when there is
  /// a path that it may not match.
  ///
  /// A literal matches only a known part. A capture matches any one segment, and a recursive one
  /// any run of parts, the longest first.
  private func captures(
    of pattern: ArraySlice<DocumentRuleMatch.Segment>, from index: Int
  ) -> [ProvenValue]? {
    guard let segment = pattern.first else { return index == parts.count ? [] : nil }
    let rest = pattern.dropFirst()
    switch segment {
    case .literal(let text):
      guard index < parts.count, case .known(let own) = parts[index], own.hasSameBytes(as: text)
      else { return nil }
      return captures(of: rest, from: index + 1)
    case .capture:
      guard index < parts.count else { return nil }
      let value: ProvenValue
      switch parts[index] {
      case .known(let text): value = .value(.string(text))
      case .any: value = .anyValue
      case .anyNumber: return nil
      }
      return captures(of: rest, from: index + 1).map { [value] + $0 }
    case .recursive:
      for end in stride(from: parts.count, through: index, by: -1) {
        // In version 1 a recursive capture needs a segment, which a part of any number may lack.
        guard version >= 2 || holdsSegment(index..<end),
          let others = captures(of: rest, from: end)
        else { continue }
        return [path(index..<end)] + others
      }
      return nil
    }
  }

  /// Returns true when parts of the path are at least one segment.
  private func holdsSegment(_ range: Range<Int>) -> Bool {
    parts[range].contains { if case .anyNumber = $0 { false } else { true } }
  }

  /// Returns the value of a recursive capture: a path if all of its segments are known.
  private func path(_ range: Range<Int>) -> ProvenValue {
    var segments: [String] = []
    for part in parts[range] {
      guard case .known(let text) = part else { return .anyValue }
      segments.append(text)
    }
    return .value(.path(DocumentRulePath(segments)))
  }
}

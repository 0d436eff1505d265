package import TernCore
import TernStorage
package import TernTreeRows

/// A committed write as the log keeps it: resolved, and enough to make the state again.
///
/// Source: Docs/Formats/tree-rows.md, section 3.
package struct TreeRecord: Equatable, Sendable {
  /// The prefix of the tree's rows.
  package let prefix: [UInt8]
  /// Each replaced path and its new node, in the order of replacement.
  package let assignments: [TreeMerge.Entry]

  private static let format: UInt8 = 1

  /// The record of a write whose server values are resolved.
  package init(of assignments: [TreeMerge.Entry], in rows: TreeRows) {
    prefix = rows.prefix
    self.assignments = assignments
  }

  /// Reads a record back; `nil` when the bytes are none.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let prefix = reader.counted(),
      let count = reader.variable()
    else { return nil }
    var assignments: [TreeMerge.Entry] = []
    for _ in 0..<count {
      guard let entry = Self.assignment(from: &reader) else { return nil }
      assignments.append(entry)
    }
    guard reader.isAtEnd else { return nil }
    self.prefix = prefix
    self.assignments = assignments
  }

  /// The record's bytes.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(counted: prefix)
    writer.append(variable: UInt64(assignments.count))
    let bare = TreeRows(prefix: [])
    for entry in assignments {
      writer.append(counted: bare.key(of: entry.path))
      writer.append(variable: UInt64(TreeRows.rowCount(of: entry.node)))
      bare.forEachRow(of: entry.node, at: .root) { key, value in
        writer.append(counted: key)
        writer.append(counted: value)
      }
    }
    return writer.bytes
  }

  private static func assignment(from reader: inout ByteReader) -> TreeMerge.Entry? {
    guard let path = reader.counted().flatMap(RowKey.path), let count = reader.variable() else {
      return nil
    }
    var builder = RowNodeBuilder(baseCount: 0)
    for _ in 0..<count {
      guard let key = reader.counted(), let value = reader.counted() else { return nil }
      do throws(StorageError) { try builder.add(key: key.span, value: value.span) } catch {
        return nil
      }
    }
    return TreeMerge.Entry(path: path, node: builder.finish())
  }
}

extension RowKey {
  /// The path whose key, without a prefix, is `bytes`.
  fileprivate static func path(_ bytes: [UInt8]) -> TreePath? {
    var keys: [TreeKey] = []
    var offset = 0
    while offset < bytes.count {
      guard let key = segment(of: bytes.span, at: &offset) else { return nil }
      keys.append(key)
    }
    return TreePath(unchecked: keys)
  }
}

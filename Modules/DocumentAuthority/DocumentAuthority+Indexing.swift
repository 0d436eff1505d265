import TernCore
package import TernStorage

/// Limits for the composite indexes that a server creates by itself.
///
/// Each index costs every later write of the scope, so few are made, and none for small results.
package enum DocumentIndexLimits {
  /// The most of one collection, or of one group.
  ///
  /// Beyond it no index is made; none is ever dropped to make room for another.
  package static let perScope = 16
  /// The fewest rows a query has to read before an index is worth while.
  ///
  /// Below it a query is fast enough whatever the ratio is.
  package static let rowsRead = 200
  /// The most rows that a query may read for each document it returns.
  package static let rowsPerDocument = 4
  /// The most documents that are taken into an index at a time.
  ///
  /// A step is one commit, so it bounds the time that other commits wait.
  package static let documentsPerStep = 500
}

extension DocumentAuthority {
  /// Begins indexes that would have spared a query most of what it read.
  ///
  /// The definition is committed first and marks the index as unbuilt. From then on every commit
  /// writes its entries, while ``buildIndexes(in:)`` adds those of older documents.
  ///
  /// - Returns: What to commit; nothing when the query was served well, or can be served no
  ///   better. ``buildIndexes(in:)`` goes on from there.
  package func indexes(
    worth explanation: DocumentExplanation, in reader: any StoreReader
  ) throws(StorageError) -> [Mutation] {
    let fair = (explanation.returned + 1) * DocumentIndexLimits.rowsPerDocument
    let read = explanation.cost.rowsRead
    guard read >= DocumentIndexLimits.rowsRead, read > fair else { return [] }
    let reading = DocumentReading(rows, reader)
    var state = try reading.state()
    var mutations: [Mutation] = []
    var made: Set<CompositeIndexCandidate> = []
    for wish in explanation.wishes where made.insert(wish).inserted {
      let known = try reading.composites(of: wish.scope)
      let begun = made.count { $0.scope == wish.scope } - 1
      if known.contains(where: { $0.segments == wish.segments })
        || known.count + begun >= DocumentIndexLimits.perScope
      {
        continue
      }
      let index = CompositeIndex(
        number: state.nextScope, scope: wish.scope, segments: wish.segments, builtUpTo: [])
      state.nextScope += 1
      mutations.append(.put(key: index.key(rows), value: index.encode()))
    }
    if !mutations.isEmpty {
      mutations.append(.put(key: rows.key(.state), value: state.encode()))
    }
    return mutations
  }

  /// Takes some more documents into an index that is not whole yet.
  ///
  /// Writes that happen meanwhile are in it already. An index whose documents cannot all be read
  /// does not become whole, and so serves no query; the others go on.
  ///
  /// The mark in the definition is the key of the last document that was taken in. The state is
  /// durable after each step, so a restart goes on from there.
  ///
  /// - Returns: What to commit; nothing when nothing is left to do.
  package func buildIndexes(in reader: any StoreReader) throws(StorageError) -> [Mutation] {
    let reading = DocumentReading(rows, reader)
    for row in try reading.scan(KeyRange(prefix: rows.key(.definition))) {
      guard let index = CompositeIndex(row.value) else { throw .corruptRecord(key: row.key) }
      guard let mark = index.builtUpTo else { continue }
      do throws(StorageError) {
        return try build(index, from: mark, reading)
      } catch {
        guard case .corruptRecord = error else { throw error }
      }
    }
    return []
  }

  /// Takes in the documents behind the row `mark`, which is empty at the beginning.
  private func build(
    _ index: CompositeIndex, from mark: [UInt8], _ reading: DocumentReading
  ) throws(StorageError) -> [Mutation] {
    let documents = KeyRange(prefix: rows.key(.document, index.scope))
    let keyed = rows.key(.entry, index.scope) + FieldEntries.keyField
    let isNested = try reading.holdsRows(KeyRange(prefix: keyed))
    let prefix = isNested ? keyed : documents.lower
    var range = KeyRange(prefix: prefix)
    if !mark.isEmpty { range.lower = mark + [0] }
    let found = try reading.scan(range, limit: DocumentIndexLimits.documentsPerStep)
    let start = rows.key(.composite, index.number)
    var mutations: [Mutation] = []
    for row in found {
      let document = try self.document(row, isNested, prefix.count, index.scope, reading)
      guard let fields = document.fields else { continue }
      let reference =
        isNested
        ? DocumentReference.inGroup(document.key) : DocumentReference.inCollection(document.key)
      let (bytes, value) = DocumentReference.row(
        reference, document.key, limit: rows.referenceBytes)
      for entry in index.entries(fields) {
        mutations.append(.put(key: start + entry + bytes, value: value))
      }
    }
    var next = index
    next.builtUpTo =
      found.count < DocumentIndexLimits.documentsPerStep ? nil : found.last?.key
    mutations.append(.put(key: next.key(rows), value: next.encode()))
    return mutations
  }

  /// The document of a row that lists the documents of a scope.
  private func document(
    _ row: Row, _ isNested: Bool, _ prefixCount: Int, _ scope: ScopeNumber,
    _ reading: DocumentReading
  ) throws(StorageError) -> Document {
    let nested = DocumentScope(number: scope, collection: nil)
    if isNested {
      guard let start = DocumentReference.start(in: row.key),
        let key = nested.key(of: row, from: start)
      else { throw .corruptRecord(key: row.key) }
      return try reading.document(key)
    }
    // Entries name a document by its id; which collection it is in does not matter here.
    guard let id = OrderedBytes.path(row.key.span, from: prefixCount),
      let document = StoredDocument.decode(row.value.span, DocumentKey(unchecked: "c/" + id))
    else { throw .corruptRecord(key: row.key) }
    return document
  }
}

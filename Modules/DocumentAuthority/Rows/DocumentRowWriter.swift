package import TernCore
import TernStorage

/// The change of one document in one commit.
///
/// Both sides have the same key. A document that was deleted keeps the version of its deletion
/// here, but not in the store.
package struct DocumentCommitChange: Hashable, Sendable {
  /// The document before the commit; missing when there was none.
  package let before: Document
  /// The document after it.
  package let after: Document

  /// The document.
  package var key: DocumentKey { after.key }
}

/// Works out what a commit changes in the store.
///
/// For each document: its row; a row that leads back; entries of the fields that differ, in the
/// scope of the collection and in that of its group; entries of the composite indexes of both.
/// Unchanged entries are not written again, so the cost of a commit follows what it changes.
struct DocumentRowWriter {
  private let reading: DocumentReading
  /// The state after the commit.
  private var state: DatabaseState
  /// Numbers given in this commit.
  private var given: [[UInt8]: ScopeNumber] = [:]
  /// The rows to write and to remove; complete after ``finish()``.
  private(set) var mutations: [Mutation] = []

  private var rows: DocumentRows { reading.rows }

  /// Begins a commit. The first commit of a database gives it its epoch.
  ///
  /// - Parameter version: The version of the commit.
  init(_ reading: DocumentReading, version: DocumentVersion) throws(StorageError) {
    self.reading = reading
    state = try reading.state()
    if state.epoch == .none { state.epoch = version }
    state.last = version
  }

  /// Adds the changes of one document.
  ///
  /// Changes of one document must be written once, with its states before and after the whole
  /// commit.
  ///
  /// - Parameter index: The index of the document within the commit.
  mutating func write(_ change: DocumentCommitChange, index: UInt32) throws(StorageError) {
    let collection = change.key.collection
    let scope = try number(
      under: rows.collectionKey(collection), text: collection.text,
      known: try reading.scope(of: collection))
    put(change, scope)
    let reverse = ReverseChange(from: change.before, to: change.after).encode()
    mutations.append(
      .put(key: rows.changeKey(scope, state.last, index: index), value: reverse))
    var places = [Place(scope: scope, reference: DocumentReference.inCollection(change.key))]
    if collection.parent != nil {
      let group = try number(
        under: rows.groupKey(collection.id), text: collection.id,
        known: try reading.scope(ofGroup: collection.id))
      // The group has only a pointer, so that what a document was is stored once.
      var pointer = ByteWriter()
      pointer.append(bigEndian: scope)
      mutations.append(
        .put(key: rows.changeKey(group, state.last, index: index), value: pointer.bytes))
      places.append(Place(scope: group, reference: DocumentReference.inGroup(change.key)))
    }
    writeEntries(change, places)
    try writeComposites(change, places)
  }

  /// Ends the commit: what the database remembers of it.
  mutating func finish() {
    mutations.append(.put(key: rows.key(.state), value: state.encode()))
  }

  /// A scope that lists the document, and what names it there.
  private struct Place {
    let scope: ScopeNumber
    let reference: [UInt8]
  }

  /// Returns the number of a collection or a group, and gives one to a new one.
  ///
  /// - Parameters:
  ///   - key: The row that maps it to its number.
  ///   - text: Its path or id, which the row holds for walks over collections.
  ///   - known: The number in the store; `nil` when it has none yet.
  private mutating func number(
    under key: [UInt8], text: String, known: ScopeNumber?
  ) throws(StorageError) -> ScopeNumber {
    if let known = known ?? given[key] { return known }
    let scope = state.nextScope
    state.nextScope += 1
    given[key] = scope
    var writer = ByteWriter()
    writer.append(bigEndian: scope)
    writer.append(Array(text.utf8))
    mutations.append(.put(key: key, value: writer.bytes))
    return scope
  }

  /// Writes the row of a document, or removes it.
  private mutating func put(_ change: DocumentCommitChange, _ scope: ScopeNumber) {
    let key = rows.documentKey(scope, change.key)
    if let fields = change.after.fields {
      mutations.append(.put(key: key, value: StoredDocument.encode(fields, change.after)))
    } else {
      mutations.append(.remove(KeyRange(only: key)))
    }
  }

  /// Changes the entries of single fields that differ.
  private mutating func writeEntries(_ change: DocumentCommitChange, _ places: [Place]) {
    let before = change.before.fields.map { FieldEntries($0).entries } ?? []
    let after = change.after.fields.map { FieldEntries($0).entries } ?? []
    let (removed, added) = DocumentRowWriter.differences(before, after)
    for place in places {
      let start = rows.key(.entry, place.scope)
      let (reference, value) = DocumentReference.row(
        place.reference, change.key, limit: rows.referenceBytes)
      for entry in removed {
        mutations.append(.remove(KeyRange(only: start + entry + reference)))
      }
      for entry in added {
        mutations.append(.put(key: start + entry + reference, value: value))
      }
    }
    guard let group = places.dropFirst().first else { return }
    // The nested documents of a group are found by their keys through entries of their own.
    let (reference, value) = DocumentReference.row(
      group.reference, change.key, limit: rows.referenceBytes)
    let key = rows.key(.entry, group.scope) + FieldEntries.keyField + reference
    switch (change.before.isFound, change.after.isFound) {
    case (false, true): mutations.append(.put(key: key, value: value))
    case (true, false): mutations.append(.remove(KeyRange(only: key)))
    case (true, true), (false, false): break
    }
  }

  /// Changes the entries of composite indexes that differ. An index that is being built gets
  /// entries as well. Of a document that the build has not reached, it removes entries that are not
  /// there.
  private mutating func writeComposites(
    _ change: DocumentCommitChange, _ places: [Place]
  ) throws(StorageError) {
    for place in places {
      for index in try reading.composites(of: place.scope) {
        let before = change.before.fields.map { index.entries($0) } ?? []
        let after = change.after.fields.map { index.entries($0) } ?? []
        let (removed, added) = DocumentRowWriter.differences(before, after)
        let start = rows.key(.composite, index.number)
        let (reference, value) = DocumentReference.row(
          place.reference, change.key, limit: rows.referenceBytes)
        for entry in removed {
          mutations.append(.remove(KeyRange(only: start + entry + reference)))
        }
        for entry in added {
          mutations.append(.put(key: start + entry + reference, value: value))
        }
      }
    }
  }

  /// Returns the elements that only one of two ascending lists contains.
  ///
  /// - Complexity: O(*n* + *m*) comparisons.
  private static func differences(
    _ old: [[UInt8]], _ new: [[UInt8]]
  ) -> (removed: [[UInt8]], added: [[UInt8]]) {
    var (removed, added): ([[UInt8]], [[UInt8]]) = ([], [])
    var (i, j) = (0, 0)
    while i < old.count || j < new.count {
      if j == new.count || i < old.count && bytesPrecede(old[i], new[j]) {
        removed.append(old[i])
        i += 1
      } else if i == old.count || bytesPrecede(new[j], old[i]) {
        added.append(new[j])
        j += 1
      } else {
        i += 1
        j += 1
      }
    }
    return (removed, added)
  }
}

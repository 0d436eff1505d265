package import TernCore

/// A map of the language of rules: made by an expression, or a view of a document that reads only
/// what is asked for.
///
/// Views are converted value by value at each access, so `data.a.b` touches two values of a
/// document of any size. ``entries`` converts everything and costs as much as the map is large;
/// equality and hashing use it.
package struct DocumentRuleMap: Sendable {
  /// One entry.
  package struct Entry: Sendable {
    package let key: String
    package let value: DocumentRuleValue
  }

  /// The forms of a map, each with its keys in ascending order of bytes, which ``entries`` and
  /// ``keys`` rely on.
  private enum Storage: Sendable {
    /// Ascending by the bytes of the keys.
    case entries([Entry])
    case fields(DocumentFields)
    case document(DocumentMap)
    case resource(DocumentRuleResource)
  }

  private let storage: Storage

  /// A map of entries; of entries with one key the last one stays.
  ///
  /// Entries in ascending order cost linear time; each one out of order is inserted by binary
  /// search.
  package init(_ entries: [(String, DocumentRuleValue)]) {
    var sorted: [Entry] = []
    sorted.reserveCapacity(entries.count)
    for (key, value) in entries {
      let entry = Entry(key: key, value: value)
      if let last = sorted.last, last.key.compareUTF8(key) >= 0 {
        let index = DocumentRuleMap.position(of: key, in: sorted)
        if sorted[index].key.hasSameBytes(as: key) {
          sorted[index] = entry
        } else {
          sorted.insert(entry, at: index)
        }
      } else {
        sorted.append(entry)
      }
    }
    storage = .entries(sorted)
  }

  /// The fields of a document.
  package init(_ fields: DocumentFields) { storage = .fields(fields) }

  /// A map in a document.
  package init(_ map: DocumentMap) { storage = .document(map) }

  /// A document: `data`, `id` and `__name__`.
  package init(_ resource: DocumentRuleResource) { storage = .resource(resource) }

  /// The number of entries.
  package var count: Int {
    switch storage {
    case .entries(let entries): entries.count
    case .fields(let fields): fields.map.count
    case .document(let map): map.count
    case .resource: DocumentRuleResource.keys.count
    }
  }

  /// The value of a key; `nil` when there is none.
  package subscript(key: String) -> DocumentRuleValue? {
    switch storage {
    case .entries(let entries):
      let index = DocumentRuleMap.position(of: key, in: entries)
      guard index < entries.count, entries[index].key.hasSameBytes(as: key) else { return nil }
      return entries[index].value
    case .fields(let fields): return fields[key].map { DocumentRuleValue($0) }
    case .document(let map): return map[key].map { DocumentRuleValue($0) }
    case .resource(let resource): return resource[key]
    }
  }

  /// The keys, ascending by their bytes.
  package var keys: [String] {
    switch storage {
    case .entries(let entries): entries.map(\.key)
    case .fields(let fields): fields.map.entries.map(\.name)
    case .document(let map): map.entries.map(\.name)
    case .resource: DocumentRuleResource.keys
    }
  }

  /// The entries, ascending by the bytes of their keys.
  package var entries: [Entry] {
    switch storage {
    case .entries(let entries): entries
    case .fields(let fields): DocumentRuleMap.entries(of: fields.map)
    case .document(let map): DocumentRuleMap.entries(of: map)
    case .resource(let resource):
      DocumentRuleResource.keys.compactMap { key in
        resource[key].map { Entry(key: key, value: $0) }
      }
    }
  }

  private static func entries(of map: DocumentMap) -> [Entry] {
    map.entries.map { Entry(key: $0.name, value: DocumentRuleValue($0.value)) }
  }

  /// Returns the index of the first entry whose key is not below `key`.
  private static func position(of key: String, in entries: [Entry]) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.compareUTF8(key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension DocumentRuleMap: Hashable {
  package static func == (left: DocumentRuleMap, right: DocumentRuleMap) -> Bool {
    let (a, b) = (left.entries, right.entries)
    return a.count == b.count
      && zip(a, b).allSatisfy { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
  }

  package func hash(into hasher: inout Hasher) {
    let entries = self.entries
    hasher.combine(entries.count)
    for entry in entries {
      entry.key.hashBytes(into: &hasher)
      hasher.combine(entry.value)
    }
  }
}

/// An existing document, as `resource`, `request.resource` and `get()` give it.
///
/// A class, so that a map value that refers to a document stays small and is passed without a copy.
package final class DocumentRuleResource: Sendable {
  /// The path of the document.
  package let key: DocumentKey
  /// The contents.
  package let fields: DocumentFields
  /// The database it is in.
  package let databaseID: String

  /// A document of a database.
  package init(_ key: DocumentKey, _ fields: DocumentFields, in databaseID: String) {
    self.key = key
    self.fields = fields
    self.databaseID = databaseID
  }

  /// The members in ascending order, as ``DocumentRuleMap`` needs them.
  static let keys = ["__name__", "data", "id"]

  subscript(key: String) -> DocumentRuleValue? {
    switch key {
    case "data": .map(DocumentRuleMap(fields))
    case "id": .string(self.key.id)
    case "__name__": .path(DocumentRulePath(self.key, in: databaseID))
    default: nil
    }
  }
}

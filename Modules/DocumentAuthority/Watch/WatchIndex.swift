import TernCore
import TernQuery
import TernStorage

/// Finds the watched queries that a changed document may concern, without asking the others.
///
/// Queries are filed by where they look, and there by a value that they want a field to have.
///
/// Candidates may be too many, never too few; the matcher of each group decides. A group is in the
/// index exactly while it has subscribers.
struct WatchIndex {
  /// Queries of one collection.
  private var collections: [CollectionPath: WatchIndexBucket] = [:]
  /// Queries of a group, by its id, compared byte by byte.
  private var groups: [ExactText: WatchIndexBucket] = [:]
  /// Targets of named documents.
  private var documents: [DocumentKey: [ObjectIdentifier: WatchGroup]] = [:]

  mutating func add(_ group: WatchGroup) {
    for place in WatchScope.places(of: group) {
      switch place {
      case .collection(let path): collections[path, default: WatchIndexBucket()].add(group)
      case .group(let id): groups[ExactText(id), default: WatchIndexBucket()].add(group)
      case .document(let key): documents[key, default: [:]][ObjectIdentifier(group)] = group
      }
    }
  }

  mutating func remove(_ group: WatchGroup) {
    for place in WatchScope.places(of: group) {
      switch place {
      case .collection(let path):
        collections[path]?.remove(group)
        if collections[path]?.isEmpty == true { collections[path] = nil }
      case .group(let id):
        groups[ExactText(id)]?.remove(group)
        if groups[ExactText(id)]?.isEmpty == true { groups[ExactText(id)] = nil }
      case .document(let key):
        documents[key]?[ObjectIdentifier(group)] = nil
        if documents[key]?.isEmpty == true { documents[key] = nil }
      }
    }
  }

  /// The groups that may have to be told, each once, in the order in which they were made.
  ///
  /// - Parameter visits: Counts the fields of the document that were looked at.
  /// - Complexity: O(candidates), and a look-up for each field of the document, or for each field
  ///   that queries of the collection fix when these are few.
  func candidates(for change: DocumentCommitChange, visits: inout Int) -> [WatchGroup] {
    var found: [ObjectIdentifier: WatchGroup] = documents[change.key] ?? [:]
    let collection = change.key.collection
    collections[collection]?.collect(change, into: &found, &visits)
    groups[ExactText(collection.id)]?.collect(change, into: &found, &visits)
    return found.values.sorted { $0.serial < $1.serial }
  }
}

/// The scope of a group's documents.
private enum WatchScope {
  case collection(CollectionPath)
  case group(String)
  case document(DocumentKey)

  /// Returns the places under which a group is filed.
  static func places(of group: WatchGroup) -> [WatchScope] {
    switch group.subject {
    case .documents(let keys): return keys.map { .document($0) }
    case .query(let target):
      switch target.source {
      case .collection(let path): return [.collection(path)]
      case .group(let id): return [.group(id)]
      case .document(let key): return [.document(key)]
      // Not watched: the service refuses such targets.
      case .all: return []
      }
    }
  }
}

/// The queries of one collection, or of one group of collections.
///
/// A query with an equality is filed by that value, so a change concerns those of its value before
/// and after.
private struct WatchIndexBucket {
  /// Those that want no field to have one value.
  private var others: [ObjectIdentifier: WatchGroup] = [:]
  /// By a field, and the value that they want it to have.
  private var fixed: [DocumentFieldPath: [[UInt8]: [ObjectIdentifier: WatchGroup]]] = [:]
  /// The names of the longest path in ``fixed``, or of one that was there.
  private var depth = 0

  /// Up to this many paths are looked up one by one, each by a walk over the fields.
  private static let fewPaths = 16

  var isEmpty: Bool { others.isEmpty && fixed.isEmpty }

  mutating func add(_ group: WatchGroup) {
    if let (path, value) = WatchIndexBucket.label(of: group) {
      fixed[path, default: [:]][value, default: [:]][ObjectIdentifier(group)] = group
      depth = max(depth, path.names.count)
    } else {
      others[ObjectIdentifier(group)] = group
    }
  }

  mutating func remove(_ group: WatchGroup) {
    others[ObjectIdentifier(group)] = nil
    guard let (path, value) = WatchIndexBucket.label(of: group) else { return }
    fixed[path]?[value]?[ObjectIdentifier(group)] = nil
    if fixed[path]?[value]?.isEmpty == true { fixed[path]?[value] = nil }
    if fixed[path]?.isEmpty == true { fixed[path] = nil }
  }

  /// Collects the groups that a change may concern. The value before counts as well as the one
  /// after: a document may leave a query's result.
  func collect(
    _ change: DocumentCommitChange, into found: inout [ObjectIdentifier: WatchGroup],
    _ visits: inout Int
  ) {
    found.merge(others) { group, _ in group }
    for case let fields? in [change.before.fields, change.after.fields] {
      if fixed.count > Self.fewPaths {
        visit(fields, at: 0, below: [], into: &found, &visits)
        continue
      }
      for (path, values) in fixed {
        guard let value = fields[path], let groups = values[WatchIndexBucket.bytes(value)] else {
          continue
        }
        found.merge(groups) { group, _ in group }
      }
    }
  }

  /// Collects the groups that want a field of the map at `offset` to be as it is, or one in it.
  private func visit(
    _ fields: DocumentFields, at offset: Int, below names: [String],
    into found: inout [ObjectIdentifier: WatchGroup], _ visits: inout Int
  ) {
    Packed.forEachField(of: fields.bytes.span, at: offset) { name, value in
      visits += 1
      let path = names + [String(decoding: [UInt8](copying: name), as: UTF8.self)]
      if let values = fixed[DocumentFieldPath(unchecked: path)] {
        var bytes: [UInt8] = []
        _ = IndexValue.append(fields.bytes.span, at: value, to: &bytes)
        if let groups = values[bytes] { found.merge(groups) { group, _ in group } }
      }
      if path.count < depth { visit(fields, at: value, below: path, into: &found, &visits) }
    }
  }

  /// A value that every document of the query has in a field.
  ///
  /// One equality is enough; the first one is taken. Equalities below an OR do not hold for every
  /// document.
  private static func label(
    of group: WatchGroup
  ) -> (path: DocumentFieldPath, value: [UInt8])? {
    var filters: [DocumentFilter] = []
    switch group.query?.filter {
    case .and(let members): filters = members
    case .field(let filter): filters = [.field(filter)]
    case .or, nil: break
    }
    for case .field(let filter) in filters
    where filter.comparison == .equal && !filter.path.isKey {
      return (filter.path, bytes(filter.operand))
    }
    return nil
  }

  /// Returns the bytes that a value is filed by. Cut as in indexes: values of equal beginnings
  /// share a place.
  private static func bytes(_ value: DocumentValue) -> [UInt8] { IndexValue(value).bytes }
}

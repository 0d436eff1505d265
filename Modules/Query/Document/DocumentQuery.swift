public import TernCore

/// A query for documents, with the order of its result.
///
/// Built by refining one that asks for everything; each refinement checks the whole, so that an
/// illegal query cannot exist. Source: documents reference, section 2.
public struct DocumentQuery: Hashable, Sendable {
  /// The collection, or group of collections, to search.
  public enum Source: Hashable, Sendable {
    /// Directly in one collection.
    case collection(CollectionPath)
    /// In every collection of this id, at any depth.
    case group(String)
    /// One document, without any condition.
    case document(DocumentKey)
    /// In every collection below a document, or of the database; servers only.
    case all(below: DocumentKey?, isRecursive: Bool)

    /// Returns true when both are the same; ids of collections are compared by their bytes.
    public static func == (left: Source, right: Source) -> Bool {
      switch (left, right) {
      case (.collection(let a), .collection(let b)): a == b
      case (.group(let a), .group(let b)): a.hasSameBytes(as: b)
      case (.document(let a), .document(let b)): a == b
      case (.all(let a, let isDeep), .all(let b, let isRecursive)):
        a == b && isDeep == isRecursive
      default: false
      }
    }

    public func hash(into hasher: inout Hasher) {
      switch self {
      case .collection(let path): hasher.combine(path)
      case .group(let id): id.hashBytes(into: &hasher)
      case .document(let key): hasher.combine(key)
      case .all(let parent, let isRecursive):
        hasher.combine(parent)
        hasher.combine(isRecursive)
      }
    }
  }

  /// The collection, or group of collections, to search.
  public let source: Source

  /// The condition that documents of the result meet; `nil` keeps all.
  public internal(set) var filter: DocumentFilter?

  /// By what they are sorted, as far as it was asked for.
  public internal(set) var orders: [DocumentOrder] = []

  /// The position at which the result begins; `nil` at the first document.
  public internal(set) var start: DocumentCursor?

  /// The position at which the result ends; `nil` at the last document.
  public internal(set) var end: DocumentCursor?

  /// The greatest number of documents, and the side from which they are counted.
  public internal(set) var limit: DocumentLimit?

  /// The number of documents left out at the beginning, 0..<2^31; servers only.
  public internal(set) var offset = 0

  /// The fields that are handed out, `nil` for all of them; servers only.
  public internal(set) var selection: [DocumentFieldPath]?

  /// Further fields that documents of the result have; servers only.
  package var requiredFields: [DocumentFieldPath] = []

  /// The vector to which the documents of the result are the nearest; servers only.
  package var vectorSearch: DocumentVectorSearch?

  /// The part of its plan and cost that the answer tells; `nil` for none. Servers only.
  package var explaining: DocumentExplaining?

  /// Everything in a collection, by key.
  public static func collection(_ path: CollectionPath) -> DocumentQuery {
    DocumentQuery(source: .collection(path))
  }

  /// Everything in all collections of an id, by key.
  ///
  /// - Throws: ``DocumentQueryError/document(_:)`` when the id holds a slash or is reserved.
  public static func group(_ id: String) throws(DocumentQueryError) -> DocumentQuery {
    do throws(DocumentError) {
      let path = try CollectionPath(id)
      if path.parent != nil { throw .invalidID(id) }
      return DocumentQuery(source: .group(path.text))
    } catch {
      throw .document(error)
    }
  }

  /// One document.
  public static func document(_ key: DocumentKey) -> DocumentQuery {
    DocumentQuery(source: .document(key))
  }

  init(source: Source) { self.source = source }

  /// True when every document of the source belongs to the result, whatever the order.
  public var matchesAll: Bool {
    filter == nil && limit == nil && offset == 0 && start == nil && end == nil
      && orders.allSatisfy(\.path.isKey)
  }

  /// The collection or group id; `nil` for a single document.
  public var collectionID: String? {
    switch source {
    case .collection(let path): path.id
    case .group(let id): id
    case .document, .all: nil
    }
  }
}

/// One field to sort by.
public struct DocumentOrder: Hashable, Sendable {
  /// The field; `DocumentFieldPath.key` is the key.
  public let path: DocumentFieldPath
  /// True when larger values come first.
  public let isDescending: Bool

  /// Sorts by a field.
  public init(_ path: DocumentFieldPath, isDescending: Bool = false) {
    self.path = path
    self.isDescending = isDescending
  }

  /// The opposite order.
  package var reversed: DocumentOrder { DocumentOrder(path, isDescending: !isDescending) }
}

/// One end of a result: values of the first fields it is sorted by.
public struct DocumentCursor: Hashable, Sendable {
  /// The values, one for each of the first orders; for the key a reference.
  public let values: [DocumentValue]
  /// True when documents exactly at the position belong to the result.
  public let isInclusive: Bool

  package init(_ values: [DocumentValue], isInclusive: Bool) {
    self.values = values
    self.isInclusive = isInclusive
  }
}

/// The greatest number of documents in a query's result.
public struct DocumentLimit: Hashable, Sendable {
  /// The end of the result from which documents are counted.
  public enum Side: Hashable, Sendable {
    /// The beginning or the end of the result.
    case first, last
  }

  /// The most documents, 1..<2^31.
  public let count: Int
  /// The end that is kept.
  public let side: Side

  package init(_ side: Side, _ count: Int) {
    self.side = side
    self.count = count
  }
}

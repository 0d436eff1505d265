package import TernCore

/// A search for the documents whose vectors are nearest to one. Every document is compared.
///
/// Source: firestore server reference, section 2.7.
package struct DocumentVectorSearch: Hashable, Sendable {
  /// The measure of how near two vectors are.
  package enum Measure: Hashable, Sendable {
    /// The length of the difference.
    case euclidean
    /// One less the cosine of the angle; nothing is near the zero vector.
    case cosine
    /// The sum of the products: the greatest is the nearest.
    case dotProduct
  }

  /// The field that holds the vectors.
  package let field: DocumentFieldPath
  /// The vector that is searched for.
  package let vector: [Double]
  /// The measure of the distance.
  package let measure: Measure
  /// The most documents of the result.
  package let limit: Int
  /// The field of the result that tells the distance; `nil` for none.
  package let distanceField: DocumentFieldPath?
  /// The greatest distance; for ``Measure/dotProduct`` the least.
  package let threshold: Double?

  /// The most documents of one result.
  package static let resultLimit = 1_000

  package init(
    _ field: DocumentFieldPath, _ vector: [Double], by measure: Measure, limit: Int,
    distanceField: DocumentFieldPath? = nil, threshold: Double? = nil
  ) {
    self.field = field
    self.vector = vector
    self.measure = measure
    self.limit = limit
    self.distanceField = distanceField
    self.threshold = threshold
  }

  /// Returns the distance of a document; `nil` when it does not belong to the result.
  ///
  /// - Complexity: O(dimensions); nothing is kept between documents.
  package func distance(of document: Document) -> Double? {
    guard case .vector(let other)? = document.fields?[field], other.count == vector.count,
      let distance = distance(to: other)
    else { return nil }
    // Infinities have no difference.
    if distance.isNaN { return nil }
    guard let threshold else { return distance }
    return (isNearer(distance, threshold) || distance == threshold) ? distance : nil
  }

  /// Returns true when the first distance is that of the nearer vector.
  package func isNearer(_ one: Double, _ other: Double) -> Bool {
    measure == .dotProduct ? one > other : one < other
  }

  private func distance(to other: [Double]) -> Double? {
    var (product, difference, ownSquare, otherSquare) = (0.0, 0.0, 0.0, 0.0)
    for (x, y) in zip(vector, other) {
      product += x * y
      difference += (x - y) * (x - y)
      ownSquare += x * x
      otherSquare += y * y
    }
    switch measure {
    case .euclidean: return difference.squareRoot()
    case .dotProduct: return product
    case .cosine:
      let lengths = ownSquare.squareRoot() * otherSquare.squareRoot()
      return lengths == 0 ? nil : 1 - product / lengths
    }
  }
}

extension DocumentVectorSearch {
  /// Returns a document of the result with its distance, where that is asked for.
  package func telling(_ distance: Double, in document: Document) -> Document {
    guard let field = distanceField, let fields = document.fields else { return document }
    var map = fields.map
    map[field] = .double(distance)
    var told = document
    told.state = .found(DocumentFields(map))
    return told
  }
}

/// The nearest of the documents that are shown, never more than the limit.
///
/// The list is sorted at all times; an insertion costs O(limit). Only keys are kept, because
/// documents are large.
package struct NearestDocuments {
  private let search: DocumentVectorSearch
  /// The documents, the nearest first; equally near ones by key.
  package private(set) var found: [(distance: Double, key: DocumentKey)] = []

  package init(_ search: DocumentVectorSearch) { self.search = search }

  /// Shows a document; documents come in any order.
  package mutating func insert(_ document: Document) {
    guard let distance = search.distance(of: document) else { return }
    let key = document.key
    if found.count >= search.limit, let last = found.last, !isBefore(distance, key, last) {
      return
    }
    var (low, high) = (0, found.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(distance, key, found[middle]) { high = middle } else { low = middle + 1 }
    }
    found.insert((distance, key), at: low)
    if found.count > search.limit { found.removeLast() }
  }

  private func isBefore(
    _ distance: Double, _ key: DocumentKey, _ other: (distance: Double, key: DocumentKey)
  ) -> Bool {
    distance == other.distance ? key < other.key : search.isNearer(distance, other.distance)
  }
}

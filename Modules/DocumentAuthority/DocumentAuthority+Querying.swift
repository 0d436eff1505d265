package import TernCore
package import TernQuery
package import TernStorage

/// The plan and the cost of a query.
///
/// It is complete once the query is over; the server answers `explain` with it and makes indexes
/// from it.
package struct DocumentExplanation: Sendable {
  /// The access paths that the plan chose, as readable text.
  package let choices: [String]
  /// The rows and documents that the query read.
  package let cost: DocumentCost
  /// The number of returned documents.
  package let returned: Int
  /// The number of documents that an offset left out.
  package let skipped: Int
  /// Indexes that would have spared work; see ``DocumentAuthority/indexes(worth:in:)``.
  let wishes: [CompositeIndexCandidate]
}

extension DocumentAuthority {
  /// Hands out the documents of a query, in its order, fields selected.
  ///
  /// - Parameters:
  ///   - query: The query, with limit, offset, cursors and selection.
  ///   - time: An earlier version to read at, at most
  ///     ``DocumentAuthorityLimits/changeRetention`` ago; `nil` for now.
  ///   - body: Takes one document; `false` ends the query.
  /// - Returns: A failure when the state at `time` is not known any more or takes too much memory.
  ///   Nothing was handed out then.
  /// - Complexity: Follows the result where one index serves the query, or alternatives of equal
  ///   values; see Docs/Formats/document-rows.md, section 3.
  package func run(
    _ query: DocumentQuery, at time: DocumentVersion? = nil, in reader: any StoreReader,
    _ body: (Document) throws(StorageError) -> Bool
  ) throws(StorageError) -> Result<DocumentExplanation, DocumentStatus> {
    let reading = DocumentReading(rows, reader)
    if let search = query.vectorSearch {
      return try nearest(search, query, at: time, reading, body)
    }
    if query.limit?.side == .last {
      return try runBackwards(query, at: time, reading, body)
    }
    let past: PastDocuments
    switch try self.past(query.source, at: time, reading) {
    case .failure(let status): return .failure(status)
    case .success(let found): past = found
    }
    let selection = QuerySelection(query)
    var run = try QueryRun(query, past, reading)
    while let document = try run.next() {
      if try !body(selection.apply(to: document)) { break }
    }
    return .success(run.explanation)
  }

  /// The documents of a query; for results that are known to be small.
  package func documents(
    of query: DocumentQuery, at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<[Document], DocumentStatus> {
    var documents: [Document] = []
    let outcome = try run(query, at: time, in: reader) { document throws(StorageError) in
      documents.append(document)
      return true
    }
    return outcome.map { _ in documents }
  }

  /// Computes over the documents of a query without keeping them.
  ///
  /// - Returns: One value per aggregation, in their order. Source: documents reference, section
  ///   2.9.
  package func aggregate(
    _ aggregations: [DocumentAggregation], over query: DocumentQuery,
    at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<([DocumentValue], DocumentExplanation), DocumentStatus> {
    if query.vectorSearch != nil { return .failure(Self.aggregatedSearch) }
    let reading = DocumentReading(rows, reader)
    let past: PastDocuments
    switch try self.past(query.source, at: time, reading) {
    case .failure(let status): return .failure(status)
    case .success(let found): past = found
    }
    var base = DocumentQuery(query.target)
    base.requiredFields = DocumentAggregation.requiredFields(of: aggregations)
    // The order counts only for what a limit keeps.
    let isOrdered = query.limit != nil || query.offset > 0
    let bounds = aggregations.map { aggregation in
      if case .count(let bound?) = aggregation.function { return bound }
      return Int.max
    }
    var run = try QueryRun(
      base, past, reading, isOrdered: isOrdered,
      atMost: bounds.max() ?? .max)
    var failure: StorageError?
    // An iterator cannot throw: the error is kept, and looked at after the computation.
    let documents = AnyIterator<Document> {
      do throws(StorageError) { return try run.next() } catch {
        failure = error
        return nil
      }
    }
    let values = DocumentAggregation.compute(aggregations, over: IteratorSequence(documents))
    if let failure { throw failure }
    return .success((values, run.explanation))
  }

  private static let aggregatedSearch = DocumentStatus(
    .invalidArgument, "FindNearest is not supported in aggregation queries.")

  /// The rejection of a read as of a time that lies beyond the kept history.
  package static let tooOld = DocumentStatus(
    .invalidArgument, "The requested 'read_time' is too old.")

  /// The rejection of a read as of a time since which so much has changed that undoing it takes too
  /// much memory.
  package static let tooMuchChanged = DocumentStatus(
    .resourceExhausted,
    "More was changed since the requested 'read_time' than can be held in memory.")

  /// Hands out the last documents of a query, which it keeps until all are found.
  private func runBackwards(
    _ query: DocumentQuery, at time: DocumentVersion?, _ reading: DocumentReading,
    _ body: (Document) throws(StorageError) -> Bool
  ) throws(StorageError) -> Result<DocumentExplanation, DocumentStatus> {
    let past: PastDocuments
    switch try self.past(query.source, at: time, reading) {
    case .failure(let status): return .failure(status)
    case .success(let found): past = found
    }
    var run = try QueryRun(DocumentQuery(query.target), past, reading)
    var documents: [Document] = []
    while let document = try run.next() { documents.append(document) }
    let selection = QuerySelection(query)
    for document in documents.reversed() {
      if try !body(selection.apply(to: document)) { break }
    }
    return .success(run.explanation)
  }

  /// Hands out the documents nearest to a vector.
  private func nearest(
    _ search: DocumentVectorSearch, _ query: DocumentQuery, at time: DocumentVersion?,
    _ reading: DocumentReading, _ body: (Document) throws(StorageError) -> Bool
  ) throws(StorageError) -> Result<DocumentExplanation, DocumentStatus> {
    let past: PastDocuments
    switch try self.past(query.source, at: time, reading) {
    case .failure(let status): return .failure(status)
    case .success(let found): past = found
    }
    // The order counts only for what a limit keeps.
    let isOrdered = query.limit != nil || query.offset > 0
    var run = try QueryRun(query, past, reading, isOrdered: isOrdered)
    var nearest = NearestDocuments(search)
    while let document = try run.next() { nearest.insert(document) }
    let selection = QuerySelection(query)
    for (distance, key) in nearest.found {
      let document =
        if let earlier = past.documents[key] { earlier } else { try reading.document(key) }
      if try !body(selection.apply(to: search.telling(distance, in: document))) { break }
    }
    return .success(run.explanation)
  }

  func past(
    _ source: DocumentQuery.Source, at time: DocumentVersion?, _ reading: DocumentReading
  ) throws(StorageError) -> Result<PastDocuments, DocumentStatus> {
    if let time { return try PastDocuments.read(source, at: time, reading) }
    return .success(PastDocuments(documents: [:], version: try reading.state().last))
  }
}

/// The fields that are handed out of each document of a query.
private struct QuerySelection {
  /// The selected fields; `nil` for all.
  private let mask: DocumentFieldMask?
  /// The field with the distance of a search by similarity.
  private let distance: DocumentFieldPath?

  init(_ query: DocumentQuery) {
    mask = DocumentFieldMask(selectionOf: query)
    distance = query.vectorSearch?.distanceField
  }

  func apply(to document: Document) -> Document {
    guard let mask, let fields = document.fields else { return document }
    let all = fields.map
    var kept = mask.projection(of: all)
    // The distance is told whatever is selected.
    if let field = distance, let distance = all[field] { kept[field] = distance }
    var selected = document
    selected.state = .found(DocumentFields(kept))
    return selected
  }
}

/// A query that is being run: its limit and offset over the stream that a plan gives.
///
/// The plan serves the current state. A run at an earlier time merges two streams: the plan's,
/// without the documents that have changed since, and those documents as they were, matched and
/// sorted here.
struct QueryRun {
  private let reading: DocumentReading
  private let planner: QueryPlanner
  private let stream: DocumentStream
  /// The offset.
  private var toSkip: Int
  /// The documents of the offset that were passed so far.
  private var skipped = 0
  /// The documents that may still be returned.
  private var remaining: Int
  /// The documents that were returned so far.
  private var returned = 0

  /// - Parameters:
  ///   - query: Without a limit from the end.
  ///   - past: The documents as they are to be seen, where they differ from now.
  ///   - isOrdered: Whether documents are wanted in the query's order, or in any.
  ///   - bound: The most documents wanted, whatever the query's own limit.
  init(
    _ query: DocumentQuery, _ past: PastDocuments, _ reading: DocumentReading,
    isOrdered: Bool = true, atMost bound: Int = .max
  ) throws(StorageError) {
    self.reading = reading
    toSkip = query.offset
    remaining = min(query.limit?.count ?? .max, bound)
    let (needed, isHuge) = remaining.addingReportingOverflow(query.offset)
    // What is left out because it has changed since may stand before what is wanted.
    let (all, isHuger) = needed.addingReportingOverflow(past.documents.count)
    var planner = QueryPlanner(
      reading, query, needed: isHuge || isHuger ? .max : all, isOrdered: isOrdered)
    let now = try planner.stream()
    self.planner = planner
    if past.documents.isEmpty {
      stream = now
    } else {
      let matcher = DocumentMatcher(query)
      let ordering = DocumentOrdering(query.normalizedOrders)
      let documents = past.documents
      let then = documents.values.filter(matcher.matches).sorted { ordering.compare($0, $1) < 0 }
      stream = MergedStream(
        [RemainingStream(now) { documents[$0] != nil }, ListStream(then)], ordering)
    }
  }

  /// Returns the next document behind the offset; `nil` at the end or at the limit.
  mutating func next() throws(StorageError) -> Document? {
    if remaining == 0 { return nil }
    while let document = try stream.next() {
      if skipped < toSkip {
        skipped += 1
        continue
      }
      remaining -= 1
      returned += 1
      return document
    }
    return nil
  }

  /// The plan and the cost so far.
  var explanation: DocumentExplanation {
    DocumentExplanation(
      choices: planner.choices, cost: reading.cost, returned: returned, skipped: skipped,
      wishes: planner.wishes)
  }
}

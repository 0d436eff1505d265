import TernCore
import TernDocumentReplica
import TernQuery

/// Compares what one listener sees with what it may see.
struct ViewCheck {
  private let query: DocumentQuery
  private let shown: [Document]
  private let byKey: [DocumentKey: Document]
  private let mutated: Set<DocumentKey>
  private let knowsMarks: Bool
  private let run: DocumentRun
  private let model: DocumentModel
  private let results: QueryResults
  private let matcher: DocumentMatcher
  private let ordering: DocumentOrdering

  init(
    _ mirror: DocumentMirror, _ run: DocumentRun, _ model: DocumentModel, _ results: QueryResults
  ) {
    query = mirror.query
    shown = mirror.documents
    // One that is shown twice is found where the order is looked at.
    byKey = Dictionary(shown.map { ($0.key, $0) }) { first, _ in first }
    mutated = mirror.mutated
    knowsMarks = mirror.options.includesMetadata
    self.run = run
    self.model = model
    self.results = results
    matcher = DocumentMatcher(query)
    ordering = DocumentOrdering(query.normalizedOrders)
  }

  /// Describes an error of order, count or marks; returns `nil` when there is none.
  func orderIsWrong() -> String? {
    for (left, right) in zip(shown, shown.dropFirst()) where ordering.compare(left, right) >= 0 {
      return "shows \(left.key) before \(right.key)"
    }
    if let limit = query.limit, shown.count > limit.count {
      return "shows \(shown.count) documents of \(limit.count)"
    }
    for key in mutated where byKey[key] == nil { return "has a mark of \(key), not shown" }
    // A listener without metadata changes does not learn that a mark is gone.
    if !knowsMarks { return nil }
    for key in mutated.sorted() where run.client.accepted[key] == nil {
      if run.pending(at: key).isEmpty { return "says that \(key) is pending, nothing is" }
    }
    return nil
  }

  /// Describes a difference from the server's state at a time, with pending writes; `nil` if none.
  func isNot(at version: DocumentVersion) -> String? {
    let truth = model.moment(at: version)
    let result = results.result(of: query, at: version, model)
    var touched = touchedKeys(after: version)
    // A listener without metadata changes may still mark accepted writes as pending.
    let stale = knowsMarks ? [] : mutated.subtracting(touched)
    touched.formUnion(stale)
    var expected: Set<DocumentKey> = []
    for document in result where !touched.contains(document.key) {
      expected.insert(document.key)
      guard let own = byKey[document.key] else {
        if isBeyondEdge(document) { continue }
        return "lacks \(words([document])), has \(words(shown)), touched \(touched)"
      }
      if own.fields != document.fields {
        return "shows \(words([own])), expected \(words([document]))"
      }
      if knowsMarks, mutated.contains(own.key), run.client.accepted[own.key] == nil {
        return "says that \(own.key) is pending, nothing is"
      }
    }
    for document in shown where !touched.contains(document.key) {
      if !expected.contains(document.key) {
        return "shows \(words([document])), which is not in \(words(result))"
      }
    }
    let certain = Set(result.map(\.key))
    for key in touched.sorted() {
      let isAhead = run.client.accepted[key].map { $0 > version } ?? false
      // A document without a listener keeps the state of its last accepted write, perhaps an old
      // one.
      let words =
        certain.contains(key) && !isAhead && !stale.contains(key)
        ? isNot(key, truth.documents[key] ?? .missing) : couldNotBe(key)
      if let words { return words }
    }
    return nil
  }

  /// Describes a result that no past state explains; returns `nil` if one does.
  func couldNotBe() -> String? {
    for document in shown {
      if let words = couldNotBe(document.key) { return words }
    }
    for key in touchedKeys(after: run.version).sorted() where byKey[key] == nil {
      if let words = couldNotBe(key) { return words }
    }
    return nil
  }

  // MARK: Documents with writes of this device

  /// Describes a document that differs from the server's state with writes applied; `nil` if none
  /// does.
  private func isNot(_ key: DocumentKey, _ base: NaiveDocument) -> String? {
    var document = base
    let pending = run.pending(at: key)
    for batch in pending { document = NaiveWrite.show(batch.batch, over: document, at: key) }
    return isRight(key, document.fields) ? nil : description(key, pending, over: [base])
  }

  /// Describes a document that no possible cache state explains; returns `nil` if one does.
  private func couldNotBe(_ key: DocumentKey) -> String? {
    let possible = run.client.possible(key, model)
    let pending = run.pending(at: key)
    let isPossible =
      if let own = byKey[key] {
        possible.canBe(pending, own.fields)
      } else {
        possible.canBe(pending) { isRight(key, $0) }
      }
    return isPossible ? nil : description(key, pending, over: possible.someStates)
  }

  private func isRight(_ key: DocumentKey, _ fields: DocumentFields?) -> Bool {
    if let own = byKey[key] { return own.fields == fields }
    let document = Document(key, fields.map { .found($0) } ?? .missing)
    return !matcher.matches(document) || isBeyondEdge(document)
  }

  private func description(
    _ key: DocumentKey, _ pending: [PendingBatch], over bases: [NaiveDocument]
  ) -> String {
    let writes = pending.flatMap(\.batch.mutations).filter { $0.key == key }
    return """
      shows \(byKey[key].map { words([$0]) } ?? "no \(key)"), with \
      \(writes.map { words($0) }) pending over \
      \(bases.map { words($0) })
      """
  }

  /// Returns `true` if a limit excludes a document that would match.
  private func isBeyondEdge(_ document: Document) -> Bool {
    guard let limit = query.limit, shown.count == limit.count,
      let edge = limit.side == .first ? shown.last : shown.first
    else { return false }
    let order = ordering.compare(document, edge)
    return limit.side == .first ? order > 0 : order < 0
  }

  /// The documents where this device may be ahead of what it was told.
  private func touchedKeys(after version: DocumentVersion) -> Set<DocumentKey> {
    var keys = Set(run.pending.flatMap { $0.batch.keys })
    for (key, accepted) in run.client.accepted where accepted > version { keys.insert(key) }
    return keys.filter { matcher.containsKey($0.text.utf8.span) }
  }
}

/// The results of queries, each computed once for as long as its time stays the same.
final class QueryResults {
  private var known: [DocumentQuery: (moment: Int, result: [Document])] = [:]

  func result(
    of query: DocumentQuery, at version: DocumentVersion, _ model: DocumentModel
  ) -> [Document] {
    let moment = model.index(at: version)
    if let found = known[query], found.moment == moment { return found.result }
    let result = model.moments[moment].result(of: query)
    known[query] = (moment, result)
    return result
  }
}

import TernCore
import TernDocumentEngine
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

  /// What is wrong with order, number and marks; `nil` when they are right.
  func orderIsWrong() -> String? {
    for (left, right) in zip(shown, shown.dropFirst()) where ordering.compare(left, right) >= 0 {
      return "shows \(left.key) before \(right.key)"
    }
    if let limit = query.limit, shown.count > limit.count {
      return "shows \(shown.count) documents of \(limit.count)"
    }
    for key in mutated where byKey[key] == nil { return "has a mark of \(key), not shown" }
    // Who does not hear of metadata is not told that a mark is gone.
    if !knowsMarks { return nil }
    for key in mutated.sorted() where run.client.accepted[key] == nil {
      if run.pending(at: key).isEmpty { return "says that \(key) is pending, nothing is" }
    }
    return nil
  }

  /// Why this is not what the server had at a time, with what is pending; `nil` when it is.
  func isNot(at version: DocumentVersion) -> String? {
    let truth = model.moment(at: version)
    let result = results.result(of: query, at: version, model)
    var touched = touchedKeys(after: version)
    // Who does not hear of metadata may take for pending what has been accepted since.
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
      // What nobody here listens to is as it was left by what was accepted, maybe long ago.
      let words =
        certain.contains(key) && !isAhead && !stale.contains(key)
        ? isNot(key, truth.documents[key] ?? .missing) : couldNotBe(key)
      if let words { return words }
    }
    return nil
  }

  /// Why nothing that ever was could look like this; `nil` when it could.
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

  /// Why a document is not shown as it must be over what the server has; `nil` when it is.
  private func isNot(_ key: DocumentKey, _ base: NaiveDocument) -> String? {
    var document = base
    let pending = run.pending(at: key)
    for batch in pending { document = NaiveWrite.show(batch.batch, over: document, at: key) }
    return isRight(key, document.fields) ? nil : description(key, pending, over: [base])
  }

  /// Why a document is not shown as it may be over whatever the device has; `nil` when it is.
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

  /// Whether a limit keeps a document out that would match.
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

/// What queries found, each worked out once for as long as it is asked for as of one time.
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

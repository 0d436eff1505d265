import TernCore
import TernDocumentEngine
import TernQuery

/// Compares what one listener sees with what it may see.
struct ViewCheck {
  private let query: DocumentQuery
  private let shown: [Document]
  private let byKey: [DocumentKey: Document]
  private let mutated: Set<DocumentKey>
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
    byKey = Dictionary(uniqueKeysWithValues: shown.map { ($0.key, $0) })
    mutated = mirror.mutated
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
    for document in shown {
      let key = document.key
      let isPending = run.pending.contains { $0.concerns(key) }
      if mutated.contains(key), !isPending, run.client.acknowledged[key] == nil {
        return "says that \(key) is pending, nothing is"
      }
    }
    return nil
  }

  /// Why this is not what the server had at a time, with what is pending; `nil` when it is.
  func isNot(at version: DocumentVersion) -> String? {
    let truth = model.moment(at: version)
    let result = results.result(of: query, at: version, model)
    let touched = touchedKeys(after: version)
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
      if mutated.contains(own.key), run.client.acknowledged[own.key] == nil {
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
      let isCertain = certain.contains(key)
      let bases = isCertain ? [truth.documents[key] ?? .missing] : histories(of: key)
      let accepted = run.client.acknowledged[key] ?? []
      let isAhead = accepted.last.map { $0.version > version } ?? false
      // What nobody here listens to is as it was left by what was accepted, maybe long ago.
      let words =
        isCertain && !isAhead
        ? isNot(key, bases, [])
        : isNot(key, bases + (isCertain ? histories(of: key) : []), accepted)
      if let words { return words }
    }
    return nil
  }

  /// Why nothing that ever was could look like this; `nil` when it could.
  func couldNotBe() -> String? {
    for document in shown where !isTouched(document.key) {
      let histories = model.history(of: document.key)
      if histories.contains(where: { $0.fields == document.fields }) { continue }
      let accepted = run.client.acknowledged[document.key] ?? []
      if let words = isNot(document.key, histories.reversed(), accepted) { return words }
    }
    for key in touchedKeys(after: run.version).sorted() {
      let accepted = run.client.acknowledged[key] ?? []
      if let words = isNot(key, histories(of: key), accepted) { return words }
    }
    return nil
  }

  // MARK: Documents with writes of this device

  /// Why a document is not shown as it must be; `nil` when it is.
  private func isNot(
    _ key: DocumentKey, _ bases: [NaiveDocument], _ accepted: [AcknowledgedBatch]
  ) -> String? {
    let possible = ShownDocument(
      key: key, bases: bases, acknowledged: accepted,
      pending: run.pending.filter { $0.concerns(key) })
    let own = byKey[key]
    let isRight = possible.canBe { fields in
      let document = Document(key, fields.map { .found($0) } ?? .missing)
      if let own { return own.fields == fields }
      return !matcher.matches(document) || isBeyondEdge(document)
    }
    if isRight { return nil }
    let writes = (accepted.map(\.batch) + possible.pending.map(\.batch)).flatMap(\.mutations)
    return """
      shows \(own.map { words([$0]) } ?? "no \(key)"), with \(writes.filter { $0.key == key }.map { words($0) }) \
      over \(bases.prefix(3).map { words($0) })
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

  private func isTouched(_ key: DocumentKey) -> Bool {
    run.pending.contains { $0.concerns(key) }
  }

  /// The documents where this device may be ahead of what it was told.
  private func touchedKeys(after version: DocumentVersion) -> Set<DocumentKey> {
    var keys = Set(run.pending.flatMap { $0.batch.keys })
    for (key, batches) in run.client.acknowledged {
      if let last = batches.last, last.version > version { keys.insert(key) }
    }
    return keys.filter { matcher.containsKey($0.text.utf8.span) }
  }

  /// What there was, the latest first, and that there was nothing right after that.
  private func histories(of key: DocumentKey) -> [NaiveDocument] {
    let history = model.history(of: key)
    return history.suffix(1) + history.prefix(1) + history.dropFirst().dropLast().reversed()
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

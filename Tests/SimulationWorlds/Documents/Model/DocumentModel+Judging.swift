import TernCore
import TernDocumentAuthority
import TernQuery
import TernSync

// What may be read and written, by the rules that were in force at a time.

extension DocumentModel {
  /// The documents after a batch, and what each of its writes came to.
  typealias Made = (
    documents: [DocumentKey: NaiveDocument],
    results: [(version: DocumentVersion?, values: [DocumentValue])]
  )

  /// The rules that were in force at a moment, one after the other; the latest first.
  func rules(during index: Int) -> [RulesInForce] {
    var found: [RulesInForce] = []
    var end = Int.max
    for epoch in epochs.reversed() {
      if epoch.since <= index, index <= end { found.append(epoch.rules) }
      end = epoch.since
      if end < index { break }
    }
    return found
  }

  /// Returns `true` if a user could read a query at the moment that a view is of.
  func mayRead(_ query: DocumentQuery, by user: QueueUser, at version: DocumentVersion) -> Bool {
    let index = index(at: version)
    let state = NaiveAccessState(user, moments[index].documents)
    return rules(during: index).contains { $0.mayRead(query, state) }
  }

  /// Returns `true` if a user may read a query now.
  func mayRead(_ query: DocumentQuery, by user: QueueUser) -> Bool {
    rules.mayRead(query, NaiveAccessState(user, truth.documents))
  }

  /// Returns `true` if a user could not read a query at some moment.
  ///
  /// - Parameter first: The first moment that counts.
  func wasDenied(_ query: DocumentQuery, to user: QueueUser, since first: Int) -> Bool {
    (first..<moments.count).reversed().contains { index in
      let state = NaiveAccessState(user, moments[index].documents)
      return rules(during: index).contains { !$0.mayRead(query, state) }
    }
  }

  /// Returns the documents that a user was shown and could not see, by the rules of a moment.
  func hidden(
    _ shown: [Document], _ query: DocumentQuery, from user: QueueUser, at version: DocumentVersion
  ) -> [DocumentKey] {
    let index = index(at: version)
    let state = NaiveAccessState(user, moments[index].documents)
    let rules = rules(during: index)
    return shown.filter { document in
      !rules.contains { $0.mayFind(document, query, state) }
    }.map(\.key)
  }

  /// Returns `true` if a batch could have that end at a moment since a given one.
  func couldEnd(
    _ batch: DurableBatch, _ isSuch: (Moment, Result<Made, DocumentStatus>) -> Bool
  ) -> Bool {
    (batch.since..<moments.count).contains { index in
      rules(during: index).contains { rules in
        let moment = moments[index]
        return isSuch(
          moment,
          outcome(
            of: batch.mutations, by: batch.user, on: moment.documents, at: moment.version,
            under: rules))
      }
    }
  }

  /// Returns the documents after all writes of a batch, or the reason why the batch is rejected.
  ///
  /// A user who may not make the writes is not told whether they would be possible.
  func outcome(
    of mutations: [DocumentMutation], by user: QueueUser,
    on documents: [DocumentKey: NaiveDocument], at version: DocumentVersion,
    under rules: RulesInForce
  ) -> Result<Made, DocumentStatus> {
    var state = documents
    var results: [(version: DocumentVersion?, values: [DocumentValue])] = []
    var steps: [NaiveStep] = []
    var refusal: DocumentStatus.Code?
    for mutation in mutations {
      let before = state[mutation.key] ?? .missing
      refusal = refusal ?? NaiveWrite.refusal(of: mutation, on: before)
      let (after, values) = NaiveWrite.apply(mutation, to: before, .server(version))
      state[mutation.key] = after.fields == nil ? nil : after
      steps.append(NaiveStep(mutation, before: before.fields, after: after.fields))
      switch mutation.change {
      case .delete, .verify: results.append((nil, []))
      case .set, .patch: results.append((after.version, values))
      }
    }
    if !rules.allows(steps, NaiveAccessState(user, documents, after: state)) {
      return .failure(DocumentStatus(.permissionDenied, ""))
    }
    if let refusal { return .failure(DocumentStatus(refusal, "")) }
    return .success((state, results))
  }
}

extension NaiveStep {
  /// A write is judged as what it wants to be: one that wants its document to exist changes it.
  init(_ mutation: DocumentMutation, before: DocumentFields?, after: DocumentFields?) {
    key = mutation.key
    self.before = before
    self.after = after
    switch (mutation.change, mutation.precondition) {
    case (.verify, _): method = .verify
    case (.delete, _): method = .delete
    case (_, .exists(true)), (_, .version): method = .update
    case (_, .exists(false)): method = .create
    case (_, .none): method = before == nil ? .create : .update
    }
  }
}

import TernCore
import TernDocumentReplica
import TernQuery

/// A server that keeps every state it ever had, and tells a listen stream by comparing two of them.
struct NaiveServer {
  /// The documents as of each version; the first is empty.
  private(set) var states: [(version: DocumentVersion, documents: [DocumentKey: Document])] = [
    (DocumentVersion(microseconds: 1), [:])
  ]

  /// The state of a target as the stream told it: its version, and its documents then.
  private struct Told {
    let subject: WatchTarget.Subject
    var state: Int
    /// True when the next report has to mark the target as complete.
    var isNew: Bool
    /// True when the client continues from the state; otherwise it begins with nothing.
    var isResumed: Bool
  }

  private var told: [Int32: Told] = [:]
  /// The answers to requests, which come in the order of these.
  private var answers: [WatchChange] = []

  var version: DocumentVersion { states[states.count - 1].version }
  var documents: [DocumentKey: Document] { states[states.count - 1].documents }

  /// The documents as of a version.
  func documents(at version: DocumentVersion) -> [DocumentKey: Document] {
    states.last { $0.version <= version }?.documents ?? [:]
  }

  /// Commits writes, all or none.
  mutating func commit(
    _ mutations: [DocumentMutation]
  ) -> Result<(DocumentVersion, [DocumentWriteResult]), DocumentStatus> {
    var next = documents
    let version = DocumentVersion(microseconds: version.microseconds + 10)
    var results: [DocumentWriteResult] = []
    for mutation in mutations {
      let before = next[mutation.key] ?? Document(mutation.key, .missing)
      guard let (after, values) = try? mutation.commit(over: before, at: version) else {
        return .failure(DocumentStatus(.failedPrecondition, "a precondition does not hold"))
      }
      next[mutation.key] = after.isFound ? after : nil
      results.append(
        DocumentWriteResult(version: after.isFound ? after.version : nil, transformResults: values))
    }
    states.append((version, next))
    return .success((version, results))
  }

  /// The stream is gone, and everything it was told.
  mutating func closeStream() {
    told = [:]
    answers = []
  }

  mutating func watch(_ target: WatchTarget) {
    var state: Int?
    if case .token(let token)? = target.resume {
      state = Int(String(decoding: token, as: UTF8.self))
    }
    told[target.id] = Told(
      subject: target.subject, state: state ?? 0, isNew: true, isResumed: state != nil)
    answers.append(.target(WatchTargetChange(.added, targets: [target.id])))
  }

  mutating func unwatch(_ target: Int32) {
    told[target] = nil
    answers.append(.target(WatchTargetChange(.removed(nil), targets: [target])))
  }

  private func members(
    of subject: WatchTarget.Subject, at state: Int
  ) -> [DocumentKey: Document] {
    let all = states[state].documents
    switch subject {
    case .documents(let keys): return all.filter { keys.contains($0.key) }
    case .query(let target):
      let kept = target.run(over: Array(all.values))
      return Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0) })
    }
  }

  /// Everything that is to be told now: up to a consistent snapshot.
  ///
  /// - Parameter usesFilters: Whether a resumed target is told how many documents there are
  ///   instead of which ones left.
  mutating func report(usesFilters: Bool) -> [WatchChange] {
    var changes = answers
    answers = []
    let now = states.count - 1
    let token = Array("\(now)".utf8)
    for id in told.keys.sorted() {
      guard let target = told[id] else { continue }
      let hasBase = target.isResumed || !target.isNew
      let before = hasBase ? members(of: target.subject, at: target.state) : [:]
      let after = members(of: target.subject, at: now)
      for key in after.keys.sorted() where after[key] != before[key] {
        if let document = after[key] {
          changes.append(.changed(document, targets: [id], removed: []))
        }
      }
      let gone = before.keys.filter { after[$0] == nil }.sorted()
      if usesFilters, target.isNew, !gone.isEmpty, case .query = target.subject {
        changes.append(.filter(target: id, count: after.count, unchanged: nil))
      } else {
        for key in gone {
          if states[now].documents[key] == nil {
            changes.append(.deleted(key, readTime: version, removed: [id]))
          } else {
            changes.append(.removed(key, readTime: version, removed: [id]))
          }
        }
      }
      if target.isNew {
        changes.append(.target(WatchTargetChange(.current, targets: [id], resumeToken: token)))
      }
      told[id] = Told(subject: target.subject, state: now, isNew: false, isResumed: true)
    }
    changes.append(
      .target(WatchTargetChange(.none, resumeToken: token, readTime: version)))
    return changes
  }
}

extension DocumentTarget {
  /// The documents of a target, out of all there are.
  fileprivate func run(over documents: [Document]) -> [Document] {
    // A target is a query whose limit counts from the front.
    guard let query = try? asQuery() else { return [] }
    return query.run(over: documents)
  }

  private func asQuery() throws -> DocumentQuery {
    var query: DocumentQuery
    switch source {
    case .collection(let path): query = .collection(path)
    case .group(let id): query = try .group(id)
    case .document(let key): query = .document(key)
    case .all(let parent, let isRecursive):
      query = .assembled(.all(below: parent, isRecursive: isRecursive))
    }
    if let filter { query = try query.filtered(filter) }
    for order in orders {
      query = try query.ordered(by: order.path, isDescending: order.isDescending)
    }
    if let limit { query = try query.first(limit) }
    return query
  }
}

import TernCore
import TernDocumentEngine
import TernQuery
import TernSecurity
import TernStorage
import TernTreeWire

// What was allowed when it began is judged again when that may have changed: who asks, or who
// decides. Whoever changes either calls one of these, and nothing else ends listens.
extension ServerMachine {
  /// Lets others decide from now on, and ends what they would not have let begin.
  mutating func adopt(
    _ access: ServerAccess, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let tree = access.tree {
      authorizer = tree
      // Rules that a database was given stay; their refusals are told where the new ones' are.
      ownRules = ownRules.mapValues { authorizer.judging(by: $0.rules) }
    }
    if let documents = access.documents { documentAuthorizer = documents }
    try judgeAgain({ _ in true }, &batch)
  }

  /// Judges what some sessions listen to, after the rules they are under have changed.
  func judgeAgain(
    _ isConcerned: (Session) -> Bool, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let concerned = sessions.values.filter(isConcerned).sorted { $0.slot < $1.slot }
    for session in concerned { try judgeAgain(session, &batch) }
  }

  /// Judges what a session listens to, after its identity or its rules have changed: what it may
  /// not have any more ends, and its client is told.
  func judgeAgain(
    _ session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let namespace = session.namespace {
      let call = ServerCall(number: 0, session: session, namespace: namespace)
      try endForbiddenListens(call, &batch)
    }
    for call in session.documents?.calls.values.sorted(by: { $0.number < $1.number }) ?? [] {
      try endForbiddenTargets(of: call, &batch)
    }
  }

  private func endForbiddenListens(
    _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let groups = call.session.groups.values.sorted {
      ($0.node.path, $0.query.id) < ($1.node.path, $1.query.id)
    }
    for group in groups {
      let path = group.node.path
      guard let (status, detail) = try objection(to: group, call, batch) else { continue }
      remove(call.session, from: group, in: call.namespace)
      let notice = TreeServerMessage.listenRevoked(path, group.query, status, detail: detail)
      send(notice, to: call.session, &batch)
    }
  }

  /// Why a session may not listen in a group any more; `nil` when it may.
  private func objection(
    to group: ListenGroup, _ call: ServerCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> (TreeStatus, String)? {
    do throws(StorageError) {
      let refusal = try denial(of: group.node.path, group.query, call, batch)
      return refusal.map { (.permissionDenied, $0.text) }
    } catch {
      // What cannot be read to be judged is not allowed.
      guard error.isCorruption else { throw error }
      return (.failed, Self.damageText)
    }
  }

  private func endForbiddenTargets(
    of call: DocumentCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let stream = call.stream, let room = call.room else { return }
    for (target, subject) in room.watch.targets(of: stream).sorted(by: { $0.key < $1.key }) {
      let status: DocumentStatus
      do throws(StorageError) {
        if try mayWatch(subject, call, room, batch) { continue }
        status = Self.denied
      } catch {
        status = try DocumentStatus(damage: error)
      }
      room.watch.unlisten(target, on: stream)
      refuse(target, status, call, &batch)
    }
  }
}

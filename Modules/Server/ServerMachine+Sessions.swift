import TernPresence
import TernSecurity
import TernStorage
import TernTransport
import TernTreeWire

// The life of sessions, in which all parts take part.
extension ServerMachine {
  /// Opens a session for the client that introduced itself.
  ///
  /// A client may open once. The answer is a handshake, a redirect, a rejection that ends the
  /// session, or a question: when another session of the same client seems alive, the client has to
  /// open once more to replace it.
  mutating func greet(
    _ session: Session, _ opening: TreeOpening, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.namespace != nil {
      return try expel(session, .outOfTurn("a second opening"), &batch)
    }
    if let notice = context.options.farewell { return try redirect(session, notice, &batch) }
    let greeting = try TreeGreeting(
      opening, of: session, among: sessions, context, &batch)
    switch greeting {
    case .rejected(let reason): try expel(session, reason, &batch)
    case .inquiry(let id):
      session.askedAbout = id
      batch.send(.inquiry, to: session)
    case .accepted(let accepted):
      if let last = accepted.last { try endPredecessor(last, of: session, &batch) }
      if let origin = accepted.origin { try claim(origin, session, &batch) }
      // The client knows the session of its node, and names that one when it comes back. Another
      // link of that session has ended without a word.
      if let name = opening.session.flatMap(SessionID.parse), name != session.id {
        try endPredecessor(name, of: session, &batch)
        if tree.disconnects.operations.estate(of: name) == nil {
          sessions.rename(session, to: name)
        }
      }
      tree.open(opening.namespace, for: session)
      session.stream = opening.stream
      session.origin = accepted.origin
      let handshake = TreeHandshake(
        time: batch.now, host: opening.host ?? context.options.host,
        session: SessionID.text(session.id), lastSequence: accepted.lastSequence)
      batch.send(.handshake(handshake), to: session)
    }
  }

  /// Fires what the client's session before this one left, before anything else it does.
  ///
  /// The predecessor may still be open here, because its link is dead and not yet noticed, or it
  /// ended and waits for its grace period. In both cases its onDisconnect operations happen now,
  /// before any write of the new session.
  private mutating func endPredecessor(
    _ id: UInt128, of session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let predecessor = sessions.session(id), predecessor !== session {
      try expel(predecessor, .replaced, &batch)
    } else {
      try tree.fire(id, admin, &batch)
    }
  }

  /// Ends what the same client had before: only one program at a time uses a client's store, so a
  /// session that is still open is one its client has lost.
  private mutating func claim(
    _ origin: SessionOrigin, _ session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let predecessor = sessions.session(of: origin) {
      try expel(predecessor, .replaced, &batch)
    }
    for id in sessions.claim(origin, for: session) { try tree.fire(id, admin, &batch) }
  }

  /// Accepts a credential, and with it another identity.
  ///
  /// All bytes that the session's listens hold move to the share of the new user. When that share
  /// is too small, the session ends: otherwise a client could collect the shares of many users.
  mutating func authenticate(
    _ credential: TreeCredential, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let session = call.session
    let response = admin.credentials.authenticate(credential, session, batch)
    batch.respond(response, to: call)
    guard response.status == .ok else {
      if context.follows { session.rejectedCredentials.append(call.number) }
      return
    }
    guard session.charge.transfer(to: session.identity.userID) else {
      let limit = context.budget.identityBytes
      return try expel(session, .overShare(limitBytes: limit), &batch)
    }
    try review(session, &batch)
  }

  /// Judges what a session listens to, after its identity has changed: what it may not have any
  /// more ends, and its client is told.
  mutating func review(_ session: Session, _ batch: inout ServerBatch) throws(StorageError) {
    reviews.add(session, admin)
    try reviews.goOn(sessions, documents, &batch)
  }

  /// Tells a client where to go, in the place of a greeting, and ends its session.
  mutating func redirect(
    _ session: Session, _ notice: ServiceNotice, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.documents == nil {
      let message: TreeServerMessage =
        switch notice {
        case .moved(let host): .redirect(host: host)
        case .closed(let reason): .shutdown(reason: reason)
        }
      batch.send(message, to: session)
    }
    batch.add(.close(slot: session.slot, .sentAway(notice)))
    try end(session.slot, &batch)
  }

  /// Ends a session from this side.
  mutating func expel(
    _ session: Session, _ reason: SessionEnd, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.documents == nil { batch.send(.error(reason.description), to: session) }
    batch.add(.close(slot: session.slot, reason))
    try end(session.slot, &batch)
  }

  /// Ends the session of a link, and lets happen what it left for this moment.
  mutating func end(_ slot: Int, _ batch: inout ServerBatch) throws(StorageError) {
    guard let session = sessions.end(slot) else { return }
    clear(slot, &batch)
    try tree.fire(session.id, admin, &batch)
  }

  /// Removes listens of a session that has ended, as many as the batch has steps for.
  ///
  /// - Returns: Whether none is left.
  @discardableResult
  mutating func clear(_ slot: Int, _ batch: inout ServerBatch) -> Bool {
    guard let session = sessions.ending[slot] else { return true }
    guard documents.clear(session, &batch), tree.clear(session, &batch) else { return false }
    sessions.finish(slot)
    return true
  }

  /// Ends the sessions that were silent for too long, and those whose grace is over.
  mutating func tick(_ batch: inout ServerBatch) throws(StorageError) {
    let silence = context.options.presence.silence
    for session in sessions.silent(since: batch.uptime - silence.milliseconds) {
      try expel(session, .silent(silence), &batch)
    }
    try endCredentials(&batch)
    if context.follows { return documents.tickFollowing(batch) }
    for id in tree.disconnects.operations.due(at: batch.uptime) {
      try tree.fire(id, admin, &batch)
    }
    try documents.tick(&batch)
  }

  /// Ends what goes on by credentials that no longer count: they expired or were revoked.
  ///
  /// A session ends with a word about it, and not its listens: its client comes back with another
  /// credential and goes on.
  mutating func endCredentials(_ batch: inout ServerBatch) throws(StorageError) {
    for session in sessions.inOrder {
      documents.endCalls(of: session, admin.credentials, &batch)
      guard let error = admin.credentials.revalidate(session.accepted, batch) else { continue }
      let status: TreeStatus =
        switch error {
        case .invalid: .invalidToken
        case .expired: .expiredToken
        }
      batch.send(.authRevoked(status, detail: error.text), to: session)
      try expel(session, .credentialEnded(error.text), &batch)
    }
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}

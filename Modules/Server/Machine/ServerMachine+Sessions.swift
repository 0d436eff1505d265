import TernCore
import TernLedger
import TernPresence
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

extension ServerMachine {
  /// Opens a session for the client that introduced itself.
  ///
  /// An opening can arrive late, over a link its client has left for another one. So it ends the
  /// open session of its client only when it names it, or when the client, asked over this very
  /// link, opens once more: a link that was left answers nothing.
  mutating func greet(
    _ session: Session, _ opening: TreeOpening, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.namespace != nil {
      return try expel(session, .outOfTurn("a second opening"), &batch)
    }
    if let farewell = options.farewell { return try sendAway(session, farewell, &batch) }
    guard Namespace.isValid(opening.namespace, limitBytes: options.limits.namespaceBytes) else {
      return try expel(session, .invalidNamespace(opening.namespace), &batch)
    }
    let last = opening.lastSession.flatMap(SessionID.parse)
    let origin = (opening.origin ?? opening.stream).map {
      SessionOrigin(client: $0, namespace: opening.namespace)
    }
    if let open = origin.flatMap({ sessionsByOrigin[$0] }), open.id != last,
      open.id != session.askedAbout
    {
      session.askedAbout = open.id
      return send(.inquiry, to: session, &batch)
    }
    let lastSequence: UInt64?
    do throws(StorageError) {
      lastSequence = try opening.stream.map { stream throws(StorageError) in
        try state(of: stream, &batch).last
      }
    } catch {
      guard error.isCorruption else { throw error }
      return try expel(session, .serverStopped(Self.lostStreamText), &batch)
    }
    if let last { try endPredecessor(last, of: session, &batch) }
    if let origin { try claim(origin, session, &batch) }
    let namespace = namespace(opening.namespace)
    namespace.sessionCount += 1
    session.namespace = namespace
    session.stream = opening.stream
    session.origin = origin
    let handshake = TreeHandshake(
      time: batch.now, host: opening.host ?? options.host, session: SessionID.text(session.id),
      lastSequence: lastSequence)
    send(.handshake(handshake), to: session, &batch)
  }

  /// Fires what the client's session before this one left, before anything else it does.
  private mutating func endPredecessor(
    _ id: UInt128, of session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let predecessor = sessionsByID[id], predecessor !== session {
      try expel(predecessor, .replaced, &batch)
    } else {
      try fire(id, &batch)
    }
  }

  /// Ends what the same client had before: only one program at a time uses a client's store, so a
  /// session that is still open is one its client has lost, be it by losing its memory.
  private mutating func claim(
    _ origin: SessionOrigin, _ session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let predecessor = sessionsByOrigin[origin] { try expel(predecessor, .replaced, &batch) }
    for id in orphans.removeValue(forKey: origin) ?? [] { try fire(id, &batch) }
    sessionsByOrigin[origin] = session
  }

  private mutating func namespace(_ name: String) -> Namespace {
    let namespace = namespaceOrTransient(name)
    namespaces[namespace.key] = namespace
    return namespace
  }

  /// The open database of that name, else one for a single request.
  mutating func namespaceOrTransient(_ name: String) -> Namespace {
    let key = ExactText(name)
    if let namespace = namespaces[key] { return namespace }
    let known = hashes[key] ?? NodeHashes()
    if hashes.count >= Self.hashedDatabases { hashes.removeAll() }
    // Kept from request to request; there is no other one of this database as long as this is used.
    hashes[key] = known
    return Namespace(name, hashes: known)
  }

  /// The most databases whose hashes are kept while no session has them open.
  private static let hashedDatabases = 64

  /// Tells a client where to go, in the place of a greeting, and ends its session.
  mutating func sendAway(
    _ session: Session, _ farewell: ServerFarewell, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.documents == nil {
      let message: TreeServerMessage =
        switch farewell {
        case .moved(let host): .redirect(host: host)
        case .closed(let reason): .shutdown(reason: reason)
        }
      send(message, to: session, &batch)
    }
    batch.add(.close(slot: session.slot, .sentAway(farewell)))
    try end(session.slot, &batch)
  }

  /// Ends a session from this side.
  mutating func expel(
    _ session: Session, _ reason: SessionEnd, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if session.documents == nil { send(.error(reason.description), to: session, &batch) }
    batch.add(.close(slot: session.slot, reason))
    try end(session.slot, &batch)
  }

  /// Ends the session of a link, and lets happen what it left for this moment.
  mutating func end(_ slot: Int, _ batch: inout ServerBatch) throws(StorageError) {
    guard let session = sessions.removeValue(forKey: slot) else { return }
    sessionsByID[session.id] = nil
    closeDocuments(of: session)
    if let origin = session.origin, sessionsByOrigin[origin] === session {
      sessionsByOrigin[origin] = nil
    }
    if let namespace = session.namespace {
      for group in session.groups.values {
        group.remove(slot)
        namespace.listens.removeIfEmpty(group)
      }
      session.groups = [:]
      namespace.sessionCount -= 1
      if namespace.sessionCount == 0 { namespaces[namespace.key] = nil }
    }
    try fire(session.id, &batch)
  }

  /// Ends the sessions that were silent for too long, and those whose grace is over.
  mutating func tick(_ batch: inout ServerBatch) throws(StorageError) {
    let limit = batch.uptime - options.presence.silence.milliseconds
    let silent = sessions.values.filter { $0.lastHeard < limit }.sorted { $0.slot < $1.slot }
    for session in silent { try expel(session, .silent(options.presence.silence), &batch) }
    try endCredentials(&batch)
    for id in presence.due(at: batch.uptime) { try fire(id, &batch) }
    documents.expire(uptime: batch.uptime)
    oweQuietStreams(batch)
    try sweepDocuments(&batch)
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}

extension ServerMachine {
  /// Notes that nothing reaches the other end of a link any more. What it wrote before its end is
  /// decided in its turn; what it asked to be told is not read for it.
  mutating func loseLink(_ slot: Int) { sessions[slot]?.isUnreachable = true }
}

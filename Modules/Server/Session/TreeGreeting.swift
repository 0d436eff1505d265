import TernCore
import TernLedger
import TernStorage
import TernTreeWire

/// The decision about a client's opening of a session.
///
/// An opening can arrive late, over a link that its client has left for another one. So it ends the
/// open session of its client only when it names it, or when the client, asked over this very
/// link, opens once more: a link that was left answers nothing.
enum TreeGreeting {
  /// The session cannot be opened and ends.
  case rejected(SessionEnd)
  /// The client is asked whether it really leaves its open session of that id.
  case inquiry(UInt128)
  /// The session is opened.
  case accepted(Opening)

  struct Opening {
    /// The session that the client had before.
    let last: UInt128?
    /// The client's name; `nil` for a client without a queue.
    let origin: SessionOrigin?
    /// The last sequence number of the client's writer; `nil` for a client without one.
    let lastSequence: UInt64?
  }

  init(
    _ opening: TreeOpening, of session: Session, among sessions: borrowing SessionTable,
    _ context: ServerContext, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard
      Namespace.isValid(
        opening.namespace, limitBytes: context.options.limits.namespaceBytes),
      context.serves(database: opening.namespace)
    else {
      self = .rejected(.invalidNamespace(opening.namespace))
      return
    }
    let last = opening.lastSession.flatMap(SessionID.parse)
    let origin = (opening.origin ?? opening.stream).map {
      SessionOrigin(client: $0, namespace: opening.namespace)
    }
    if let origin, let open = sessions.session(of: origin), open.id != last,
      open.id != session.askedAbout
    {
      self = .inquiry(open.id)
      return
    }
    do throws(StorageError) {
      let lastSequence = try opening.stream.map { writerID throws(StorageError) in
        try batch.state(of: writerID).last
      }
      self = .accepted(Opening(last: last, origin: origin, lastSequence: lastSequence))
    } catch {
      guard error.isCorruption else { throw error }
      self = .rejected(.serverStopped(RefusalText.lostWriter))
    }
  }
}

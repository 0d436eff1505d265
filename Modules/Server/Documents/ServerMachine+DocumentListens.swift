import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery
import TernSecurity
import TernStorage

extension ServerMachine {
  /// Adds or removes a target of a listen call.
  mutating func listen(
    _ request: DocumentListenRequest, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let stream = call.stream ?? documents.open(call)
    call.stream = stream
    call.pulse.lastTold = batch.uptime
    switch request {
    case .remove(let target):
      room.watch.unlisten(target, on: stream)
      tell(.target(WatchTargetChange(.removed(nil), targets: [target])), call, room, &batch)
    case .add(let target):
      do throws(StorageError) {
        try add(target, stream, call, room, &batch)
      } catch {
        // Nothing was told yet, and the other targets go on.
        refuse(target.id, try DocumentStatus(damage: error), call, &batch)
      }
    }
  }

  private mutating func add(
    _ target: WatchTarget, _ stream: Int, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard try mayWatch(target.subject, call, room, batch) else {
      return refuse(target.id, Self.denied, call, &batch)
    }
    guard call.link.targetCount < options.limits.listens else {
      let text = "A link watches \(options.limits.listens) targets already."
      return refuse(target.id, DocumentStatus(.resourceExhausted, text), call, &batch)
    }
    try open(target, stream, call, room, &batch)
  }

  private mutating func open(
    _ target: WatchTarget, _ stream: Int, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let opening = try room.watch.listen(target, on: stream, in: batch.reader)
    for change in opening.head { tell(change, call, room, &batch) }
    var pushes: [DocumentPush]
    if let id = opening.bodyID, let known = room.bodies[id] {
      pushes = known
    } else {
      pushes = opening.body.map { DocumentPush($0, room.names) }
      if let id = opening.bodyID { room.bodies[id] = pushes }
    }
    let size = pushes.reduce(0) { $0 + $1.byteCount }
    if size > options.limits.answerBytes {
      room.watch.unlisten(target.id, on: stream)
      let text = "The result is larger than \(options.limits.answerBytes) bytes."
      return refuse(target.id, DocumentStatus(.resourceExhausted, text), call, &batch)
    }
    for push in pushes { send(push.message(for: target.id), call, &batch) }
    for change in opening.tail { tell(change, call, room, &batch) }
    if opening.bodyID != nil { documents.owe(stream) }
  }

  /// Whether somebody may watch what they ask for.
  func mayWatch(
    _ subject: WatchTarget.Subject, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    switch subject {
    case .query(let target):
      return try allows([.list(DocumentQuery(target))], call, room, batch)
    case .documents(let keys):
      if deniesEverything(call, room) { return false }
      let found = try room.authority.documents(keys, in: batch.reader)
      return try allows(found.map { .get($0) }, call, room, batch)
    }
  }

  /// Ends one target; the stream goes on.
  func refuse(
    _ target: Int32, _ status: DocumentStatus, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    let change = WatchChange.target(WatchTargetChange(.removed(status), targets: [target]))
    // No name of a document is in it, and so no database is needed.
    send(DocumentResponse.listen(change).encode(DocumentNames()), call, &batch)
  }

  private func tell(
    _ change: WatchChange, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) {
    send(DocumentResponse.listen(change).encode(room.names), call, &batch)
  }

  /// Tells everybody who watches what a commit means to them.
  ///
  /// A change is encoded once for each query; calls of one number with targets of one name, as
  /// clients of one kind have them, even share the frame.
  func fanOut(
    _ decision: DocumentDecision, in room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if decision.changes.isEmpty { return }
    room.bodies = [:]
    for delivery in try room.watch.commit(decision, in: batch.reader) {
      try endDenied(delivery, room, &batch)
      let addresses = addresses(of: delivery.group)
      for change in delivery.changes {
        let push = DocumentPush(change, room.names)
        for address in addresses.shared {
          let frame = DocumentServerFrame.message(
            stream: address.call, push.message(for: address.target))
          batch.add(.broadcast(slots: address.slots, frame.encode()))
        }
      }
      if delivery.isLast {
        for stream in addresses.streams { documents.owe(stream) }
      } else {
        documents.owe(addresses, of: delivery.group, in: room)
      }
    }
  }

  /// Where the subscribers of a group are told; worked out anew when they have changed.
  func addresses(of group: WatchGroup) -> WatchAddresses {
    if let known = group.notes as? WatchAddresses { return known }
    let addresses = WatchAddresses(group.subscribers, documents.streams)
    group.notes = addresses
    return addresses
  }
}

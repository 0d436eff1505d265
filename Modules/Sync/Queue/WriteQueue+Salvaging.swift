package import TernStorage

// The way out for a queue that does not open; see `Docs/Formats/write-queue.md`, section 2.

extension WriteQueue {
  /// Sets the damaged rows of a queue aside, in one transaction, so that it opens with the rest.
  ///
  /// Their bytes move to a key range of their own. Where the number of a damaged write may be one
  /// that the server still waits for, a pending write of nothing takes its place, so that those
  /// behind it can go on under their own numbers. With the bookkeeping record lost, the writes
  /// get a new client; those that were pending become refused ones with the status
  /// ``Rejection/unknownOutcome``, because any of them may have reached the server.
  ///
  /// - Parameters:
  ///   - user: The user of the queue; empty for the queue without one.
  ///   - filler: The payload of a write that changes nothing.
  ///   - newClient: The client's id if its own is lost.
  /// - Returns: What there was; nothing was changed when it ``QueueSalvage/isWell``.
  package static func setDamagedAside(
    in store: any OrderedStore, of user: String = "", filler: [UInt8], newClient: UInt128,
    understands: (QueuedWrite) -> Bool
  ) throws(QueueError) -> QueueSalvage {
    let salvage = try QueueSalvage(of: store, user: user, understands: understands)
    if salvage.isWell { return salvage }
    let keys = QueueKeys(user: user)
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        for (key, record) in zip(salvage.damagedKeys, salvage.damaged) {
          try transaction.put(record.bytes, for: keys.setAside(key))
          try transaction.remove(key)
        }
        for write in salvage.replacements(filler: filler) {
          let value = QueueCodec.encode(write.state, payload: write.payload)
          try transaction.put(value, for: keys.row(write.id))
        }
        let header = QueueCodec.encode(salvage.newHeader(newClient: newClient))
        try transaction.put(header, for: keys.header)
      }
    } catch {
      throw .storage(error)
    }
    return salvage
  }
}

extension QueueSalvage {
  /// The bookkeeping that fits what is left; no id that was ever seen is given again.
  fileprivate func newHeader(newClient: UInt128) -> QueueCodec.Header {
    let seen = writes.map(\.id) + damaged.map(\.id) + setAside.map(\.id)
    var header = header ?? QueueCodec.Header(client: newClient)
    // What damage made of an id is none when no other could follow it.
    for id in seen where id < .max - 1 { header.nextID = max(header.nextID, id + 1) }
    return header
  }

  /// The rows that have to be other ones for the queue to go on.
  fileprivate func replacements(filler: [UInt8]) -> [QueuedWrite] {
    guard let header else {
      return writes.filter(\.isPending).map { write in
        var write = write
        write.state = .rejected(
          Rejection(
            status: Rejection.unknownOutcome,
            detail: "The queue was damaged: it is not known whether the server has this write."))
        return write
      }
    }
    return fillers(filler, before: header.nextSequence)
  }

  /// Writes of nothing under the numbers of damaged writes.
  ///
  /// The server answers in order, so of the numbers missing between two pending writes those
  /// without an answer are the last ones, and each of them is that of a damaged row between the
  /// two. Numbers that were answered may get one too: their outcome is asked for, and nothing is
  /// sent.
  private func fillers(_ payload: [UInt8], before end: UInt64) -> [QueuedWrite] {
    var fillers: [QueuedWrite] = []
    let pending = writes.compactMap { write -> (id: UInt64, sequence: UInt64)? in
      if case .pending(let sequence) = write.state { (write.id, sequence) } else { nil }
    }
    var places = damaged.map(\.id).filter { $0 > 0 }[...]
    var lastSequence: UInt64 = 0
    for next in pending + [(id: .max, sequence: end)] {
      let between = places.prefix { $0 < next.id }
      places = places.dropFirst(between.count)
      let missing = lastSequence + 1..<max(next.sequence, lastSequence + 1)
      for (id, sequence) in zip(between.reversed(), missing.reversed()) {
        fillers.append(
          QueuedWrite(id: id, state: .pending(sequence: sequence), payload: payload))
      }
      lastSequence = next.sequence
    }
    return fillers
  }
}

extension QueuedWrite {
  fileprivate var isPending: Bool {
    if case .pending = state { true } else { false }
  }
}

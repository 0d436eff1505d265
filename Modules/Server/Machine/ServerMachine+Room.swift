import TernCore
import TernDocumentWire
import TernStorage
import TernTreeEngine
import TernTreeWire

// A full disk: what clients write is refused before anything is decided about it, as something to
// try again later; sessions, reads and listens go on.
extension ServerMachine {
  /// What clients are told whose writes are not taken.
  static let fullText = "The server's disk is full. Nothing is stored until it has room again."

  /// The disk is full.
  package mutating func lackRoom(_ left: DiskRoom) { diskRoom = left }

  /// Whether a write may be decided about now.
  func hasRoom(for write: TreeWrite) -> Bool {
    switch diskRoom {
    case .ample: true
    case .removals: write.onlyRemoves
    case .none: false
    }
  }

  /// Whether writes of documents may be decided about now.
  func hasRoom(for writes: [DocumentMutation]) -> Bool {
    switch diskRoom {
    case .ample: true
    case .removals: writes.allSatisfy { $0.change == .delete }
    case .none: false
    }
  }

  /// Whether a direct request may be decided about now.
  func hasRoom(for operation: DirectRequest.Operation) -> Bool {
    switch operation {
    case .write(let write, _): hasRoom(for: write)
    case .push, .setRules(_, isTrial: false), .set, .revoke: diskRoom == .ample
    case .read, .readOrExport, .review, .mayWrite, .names, .readRules, .setRules(_, isTrial: true),
      .readSetting, .databases, .readRevocations:
      true
    }
  }

  static var fullStatus: DocumentStatus { DocumentStatus(.resourceExhausted, fullText) }

  /// There is room again: what sessions left that have ended meanwhile happens first.
  mutating func findRoom(_ batch: inout ServerBatch) throws(StorageError) {
    diskRoom = .ample
    for id in exchange(&waitingToFire, with: []) { try fire(id, &batch) }
  }

  /// What tells everybody that the server has to let them go.
  package func farewells(_ reason: SessionEnd) -> [ServerOutput] {
    var outputs: [ServerOutput] = []
    for session in sessions.values.sorted(by: { $0.slot < $1.slot }) {
      guard let link = session.documents else {
        // Before its first frame nobody knows what a link speaks about.
        if session.isFresh { continue }
        let message = TreeServerMessage.error(reason.description)
        outputs.append(.send(slot: session.slot, message.encode()))
        continue
      }
      let status = DocumentStatus(.unavailable, reason.description)
      for number in link.calls.keys.sorted() {
        let frame = DocumentServerFrame.end(stream: number, status)
        outputs.append(.send(slot: session.slot, frame.encode()))
      }
    }
    return outputs
  }
}

extension TreeWrite {
  /// Whether there is nothing in it that needs room.
  fileprivate var onlyRemoves: Bool { assignments.allSatisfy { $0.node.isEmpty } }
}

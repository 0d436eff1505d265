import TernCore
import TernLedger
import TernServer
import TernStorage
import TernSync
import TernTreeRows
import TernTreeWire

extension SimulatedWorld {
  /// Replays what was committed and compares it with what is stored.
  func follow(_ ledger: EmbeddedLedger, _ links: [CommitID: SimulatedLink]) {
    do throws(LedgerError) {
      let entries = try ledger.log(after: model.version, limit: 100_000)
      for words in model.follow(entries, at: clock.now, from: links) { disagree(words) }
      if entries.isEmpty { return }
      try followDocuments(entries, ledger)
      let truth = model.truth
      guard let prefix = model.prefix else { return }
      let (stored, version) = try ledger.read { snapshot throws(StorageError) in
        (try TreeRows(prefix: prefix).node(at: .root, in: snapshot), snapshot.version)
      }
      if version != model.version {
        disagree("the server is at v\(version), the log at \(model.version)")
      }
      if stored != truth {
        disagree("v\(version) stores \(stored), the log says \(truth)")
      }
      checkMarkers()
      checkPairs(truth, "the server")
    } catch {
      trace.note("the log cannot be read: \(error)")
      if case .truncated = error { disagree("entries after v\(model.version) are gone: \(error)") }
    }
  }

  /// Over which link each numbered write in a batch came first.
  func senders(of inputs: [ServerInput], _ run: ServerRun) -> [CommitID: SimulatedLink] {
    var senders: [CommitID: SimulatedLink] = [:]
    for case .frame(let slot, let frame) in inputs {
      guard let link = run.holders[slot], link.process is ClientRun,
        let id = Self.number(of: frame, over: link)
      else { continue }
      senders[id] = senders[id] ?? link
    }
    return senders
  }

  /// The number of the write in a frame of a client; `nil` for other frames.
  static func number(of frame: [UInt8], over link: SimulatedLink) -> CommitID? {
    guard case .request(_, let request) = try? TreeClientMessage.decode(frame) else { return nil }
    let mark: WriteHeader? =
      switch request {
      case .put(_, _, _, let mark), .merge(_, _, let mark): mark
      default: nil
      }
    guard let stamp = mark?.stamp, let stream = stamp.stream ?? link.stream else { return nil }
    return CommitID(stream: stream, sequence: stamp.sequence)
  }

  func checkMarkers() {
    for index in model.markers.indices {
      let marker = model.markers[index]
      let count = model.count(ofMarker: index)
      if count > Int64(marker.sentOver.count) {
        disagree("marker \(index) of c\(marker.client) fired \(count) times")
      }
    }
  }

  /// Both halves of the pair are always written together.
  func checkPairs(_ root: TreeNode, _ place: String) {
    let pair = root.child(TreeKey(unchecked: "pair"))
    if pair.child(TreeKey(unchecked: "a")) != pair.child(TreeKey(unchecked: "b")) {
      disagree("\(place) shows half an update: \(pair)")
    }
  }
}

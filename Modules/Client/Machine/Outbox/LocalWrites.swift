import TernTreeReplica

/// The writes the server has not answered, by name, and the list of them that applications see.
struct LocalWrites: Sendable {
  private(set) var byID: [WriteID: LocalWrite] = [:]
  private(set) var list = TreeWriteList<PendingTreeWrite>()

  subscript(id: WriteID) -> LocalWrite? {
    get { byID[id] }
    set {
      let wasShown = byID[id].map(\.row)
      byID[id] = newValue
      if wasShown == newValue.map(\.row) { return }
      list[id: id.number] = newValue.map { local in
        PendingTreeWrite(id: id.number, write: local.write, row: local.row)
      }
    }
  }

  /// In the order in which they were made.
  var inOrder: [(id: WriteID, write: LocalWrite)] {
    list.compactMap { shown in
      let id = WriteID(shown.id)
      return byID[id].map { (id, $0) }
    }
  }
}

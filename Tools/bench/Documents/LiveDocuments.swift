import TernCore
import TernDocumentReplica
import TernQuery

/// The memory of a live query over a whole collection, beside what its documents are themselves.
enum LiveDocuments {
  static func measure(_ kind: String) throws {
    for count in [10_000, 100_000] {
      let parts = try CachedDocuments(kind)
      defer { parts.remove() }
      var cache = try parts.open()
      try parts.fill(&cache, count)
      try parts.reopen()
      // The packed documents that queries keep are another matter, and have a limit.
      var replica = DocumentReplica(
        cache: try parts.open(hotBytes: 0), database: try DocumentDatabase(projectID: "bench"))
      ProcessMemory.giveBack()
      let (before, mapped) = (ProcessMemory.own, ProcessMemory.resident - ProcessMemory.own)
      let (id, effects) = replica.listen(CachedDocuments.whole)
      let memory = ProcessMemory.own - before
      let pages = ProcessMemory.resident - ProcessMemory.own - mapped
      let own = Double(parts.encodedBytes) / Double(count)
      let beyond = Double(memory) / Double(count) - own
      let result = beyond <= 1_024 ? "ok" : "miss"
      print(
        "  \(kind) a live query of \(count), bytes for each beyond its \(Int(own)): "
          + "\(Int(beyond)), 1024  \(result); and pages of the file \(max(0, pages) / count)")
      withExtendedLifetime(effects) { _ = replica.unlisten(id) }
    }
  }
}

import ArgumentParser
import TernClient
import TernCore
import TernSync

extension Pending {
  /// Gets a damaged queue open again.
  struct Salvage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Look into queues that do not open, and set their damaged records aside.",
      discussion: """
        A folder has a queue of writes to the tree and one of writes to documents. Without \
        --set-aside nothing is changed. With it, damaged records are moved out of the way: they \
        are kept, but what they asked for is given up unless the server has it already. The \
        other writes keep their order, and each is sent once.
        """)

    @Flag(help: "Set damaged records aside, so that the queues open.") var setAside = false
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      guard let database = ClientOptions().documents else { throw ExitCode.failure }
      try await client.withQueueStores { tree, documents in
        let found =
          if setAside { try Tern.setDamagedAside(queue: tree) } else {
            try Tern.salvage(queue: tree)
          }
        for line in lines(found) { printLine(line) }
        let other =
          if setAside {
            try Tern.setDamagedAside(documentQueue: documents, of: database)
          } else {
            try Tern.salvage(documentQueue: documents, of: database)
          }
        for line in lines(other, DocumentText(database, isTyped: false)) { printLine(line) }
        if !client.json { for line in advice(about: found, other) { printLine(line) } }
      }
    }

    private func lines(_ found: TreeSalvage) -> [String] {
      var lines = found.pending.map {
        writeLine("pending", $0.id, $0.write, nil, asJSON: client.json)
      }
      lines += found.rejected.map {
        writeLine("rejected", $0.id, $0.write, $0.reason.status, asJSON: client.json)
      }
      lines += found.damaged.map { line(setAside ? "set-aside" : "damaged", $0, "tree") }
      lines += found.setAside.map { line("set-aside", $0, "tree") }
      return lines
    }

    private func lines(_ found: DocumentSalvage, _ text: DocumentText) -> [String] {
      let batches =
        found.pending.map { BatchLine(state: "pending", id: $0.id, mutations: $0.mutations) }
        + found.refused.map { BatchLine($0) }
      var lines = batches.map { $0.line(text, asJSON: client.json) }
      lines += found.damaged.map { line(setAside ? "set-aside" : "damaged", $0, "documents") }
      lines += found.setAside.map { line("set-aside", $0, "documents") }
      return lines
    }

    private func line(_ state: String, _ record: DamagedRecord, _ queue: String) -> String {
      guard client.json else {
        let place = queue == "tree" ? "" : " of \(queue)"
        return "\(state) \(record.id) \(record.bytes.count) bytes" + place
      }
      return #"{"state":"\#(state)","id":\#(record.id),"bytes":\#(record.bytes.count),"#
        + #""queue":"\#(queue)"}"#
    }

    private func advice(about tree: TreeSalvage, _ documents: DocumentSalvage) -> [String] {
      if tree.isWell && documents.isWell { return ["the queue is well"] }
      var lines: [String] = []
      if !tree.isWell { lines.append(advice("the queue", tree.hasLostClient)) }
      if !documents.isWell {
        lines.append(advice("the queue of documents", documents.hasLostClient))
      }
      if !setAside {
        lines.append("to go on without what is damaged: tern pending salvage --set-aside")
      }
      return lines
    }

    private func advice(_ queue: String, _ hasLostClient: Bool) -> String {
      switch (setAside, hasLostClient) {
      case (true, true):
        "\(queue) opens again; its pending writes are rejected now, see: tern pending"
      case (true, false): "\(queue) opens again"
      case (false, true): "\(queue) does not open: its own record is damaged"
      case (false, false): "\(queue) does not open: it has damaged records"
      }
    }
  }
}

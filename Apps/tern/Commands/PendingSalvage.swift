import ArgumentParser
import TernClient
import TernCore
import TernSync

extension Pending {
  /// Gets a damaged queue open again.
  struct Salvage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Look into a queue that does not open, and set its damaged records aside.",
      discussion: """
        Without --set-aside nothing is changed. With it, damaged records are moved out of the \
        way: they are kept, but what they asked for is given up unless the server has it \
        already. The other writes keep their order, and each is sent once.
        """)

    @Flag(help: "Set damaged records aside, so that the queue opens.") var setAside = false
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try await client.withQueueStore { store in
        let found =
          if setAside { try Tern.setDamagedAside(queue: store) } else {
            try Tern.salvage(queue: store)
          }
        for line in lines(found) { printLine(line) }
      }
    }

    private func lines(_ found: TreeSalvage) -> [String] {
      var lines = found.pending.map {
        writeLine("pending", $0.id, $0.write, nil, asJSON: client.json)
      }
      lines += found.rejected.map {
        writeLine("rejected", $0.id, $0.write, $0.reason.status, asJSON: client.json)
      }
      lines += found.damaged.map { line(setAside ? "set-aside" : "damaged", $0) }
      lines += found.setAside.map { line("set-aside", $0) }
      return client.json ? lines : lines + [advice(about: found)]
    }

    private func line(_ state: String, _ record: DamagedRecord) -> String {
      guard client.json else { return "\(state) \(record.id) \(record.bytes.count) bytes" }
      return #"{"state":"\#(state)","id":\#(record.id),"bytes":\#(record.bytes.count)}"#
    }

    private func advice(about found: TreeSalvage) -> String {
      if found.isWell { return "the queue is well" }
      if setAside {
        return found.hasLostClient
          ? "the queue opens again; its pending writes are rejected now, see: tern pending"
          : "the queue opens again"
      }
      let what = found.hasLostClient ? "the queue's own record is damaged; " : ""
      return what + "to go on without what is damaged: tern pending salvage --set-aside"
    }
  }
}

import ArgumentParser
import TernClient
import TernCore
import TernStorage
import TernSync

extension Pending {
  /// Gets a damaged queue open again.
  struct Salvage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Look into queues that do not open, and set their damaged records aside.",
      discussion: """
        A folder has a queue of writes to the tree and one of writes to documents, for each user \
        who has signed in there: the user's name stands behind a line. Without \
        --set-aside nothing is changed. With it, damaged records are moved out of the way: they \
        are kept, but what they asked for is given up unless the server has it already. The \
        other writes keep their order, and each is sent once.
        """)

    @Flag(help: "Set damaged records aside, so that the queues open.") var setAside = false
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try requireFolder(client)
      guard let database = ClientOptions().documents else { throw ExitCode.failure }
      try await client.withQueueStores(setAside ? .recovery : .records) { tree, documents in
        var trees: [TreeSalvage] = []
        for user in [""] + (try TernDatabase.queueUsers(in: tree)) {
          trees.append(
            setAside
              ? try TernDatabase.setDamagedAside(queue: tree, of: user)
              : try TernDatabase.salvage(queue: tree, of: user))
        }
        for found in trees { print(lines(found), of: found.user) }
        var others: [DocumentSalvage] = []
        for user in [""] + (try TernDatabase.queueUsers(in: documents)) {
          others.append(
            setAside
              ? try TernDatabase.setDamagedAside(documentQueue: documents, of: database, user: user)
              : try TernDatabase.salvage(documentQueue: documents, of: database, user: user))
        }
        let text = DocumentText(database, isTyped: false)
        if setAside {
          try tree.compact()
          try documents.compact()
        }
        for found in others { print(lines(found, text), of: found.user) }
        if !client.json { for line in advice(about: trees, others) { printLine(line) } }
      }
    }

    /// Prints lines with the user of their queue; the queue without a user has no label.
    private func print(_ lines: [String], of user: String) {
      for line in lines {
        switch (user.isEmpty, client.json) {
        case (true, _): printLine(line)
        case (false, true):
          printLine(#"{"user":\#(JSONValue.string(user).json),"# + line.dropFirst())
        case (false, false): printLine("\(line) (\(user))")
        }
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
        + found.rejected.map { BatchLine($0) }
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

    private func advice(about trees: [TreeSalvage], _ documents: [DocumentSalvage]) -> [String] {
      var lines = trees.filter { !$0.isWell }.map {
        advice("the queue" + owner($0.user), $0.hasLostClient)
      }
      lines += documents.filter { !$0.isWell }.map {
        advice("the queue of documents" + owner($0.user), $0.hasLostClient)
      }
      if lines.isEmpty { return ["the queue is well"] }
      if !setAside {
        lines.append("to go on without what is damaged: tern pending salvage --set-aside")
      }
      return lines
    }

    private func owner(_ user: String) -> String { user.isEmpty ? "" : " of \(user)" }

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

import ArgumentParser
import TernClient
import TernCore
import TernSync

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern pending`: the writes of a cache folder that the server does not have.
struct Pending: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, send, retry or discard the writes a --cache folder keeps.",
    discussion: """
      Pending writes wait for a server. Rejected ones were refused by it, and stay until they \
      are retried or discarded. Numbers that begin with d are batches of documents. Writes belong \
      to whoever was signed in, which --token says: only theirs are listed and sent. Those of all \
      users are told by: tern pending salvage.
      """,
    subcommands: [List.self, Send.self, Retry.self, Discard.self, Salvage.self],
    defaultSubcommand: List.self)

  /// Lists them.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List pending and rejected writes; asks no server.",
      discussion: "With --json nothing is printed when nothing is waiting.")

    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try requireFolder(client)
      try await client.withClient { run in
        await run.goOffline()
        let lines = await treeLines(run.tern.tree) + documentLines(run.tern.documents)
        for line in lines { printLine(line) }
        if lines.isEmpty && !client.json { printLine("nothing is waiting") }
      }
    }

    private func treeLines(_ tree: TreeDatabase) async -> [String] {
      await tree.pendingWrites.map {
        writeLine("pending", $0.row ?? $0.id, $0.write, nil, asJSON: client.json)
      }
        + tree.rejectedWrites.map {
          writeLine("rejected", $0.id, $0.write, $0.reason.status, asJSON: client.json)
        }
    }

    private func documentLines(_ documents: Documents) async -> [String] {
      let text = DocumentText(documents.database, isTyped: form.typed)
      let status = await documents.queueStatus
      return status.pending.map {
        BatchLine(state: "pending", id: $0.row ?? $0.id, mutations: $0.mutations)
          .line(text, asJSON: client.json)
      }
        + status.rejected.map {
          BatchLine($0).line(text, asJSON: client.json)
        }
    }
  }

  /// Sends the pending ones.
  struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Send pending writes, and wait until the server has answered all of them.")

    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try requireFolder(client)
      try await client.withClient { run in
        let before = await run.rejectedCount
        await run.tern.tree.goOnline()
        guard await run.isDrained() else { throw run.news.failure }
        let rejected = await run.rejectedCount - before
        guard rejected == 0 else {
          throw Failure(.refused, "the server rejected \(rejected); see: tern pending")
        }
      }
    }
  }

  /// Sends a rejected one again.
  struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Send a rejected write again.",
      discussion: "It is a new write: when it is rejected once more, it has another number.")

    @Argument(help: "Its number in the list.") var id: PendingNumber
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try requireFolder(client)
      try await client.withClient { run in
        switch id {
        case .tree(let id):
          let rejected = try await run.rejectedWrite(id)
          let write = try await run.tern.tree.retry(rejected)
          do throws(Failure) {
            try await run.finish(write, at: rejected.write.path, asJSON: client.json)
          } catch {
            throw await renumbered(error, run.tern.tree.rejectedWrites.map(\.id).max())
          }
        case .documents(let id):
          let refused = try await run.rejectedBatch(id)
          let write = try await run.tern.documents.retry(refused)
          do throws(Failure) {
            try await run.finish(write, of: refused.mutations, asJSON: client.json)
          } catch {
            let all = await run.tern.documents.queueStatus.rejected
            throw renumbered(error, all.map(\.id).max(), prefix: "d")
          }
        }
      }
    }

    /// Tells which number a write has that was rejected again: the newest.
    private func renumbered(_ failure: Failure, _ id: UInt64?, prefix: String = "") -> Failure {
      guard failure.code == .refused, let id else { return failure }
      return Failure(failure.code, "\(failure.message); it is number \(prefix)\(id) now")
    }
  }

  /// Gives a rejected one up.
  struct Discard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a rejected write up.")

    @Argument(help: "Its number in the list.") var id: PendingNumber
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try requireFolder(client)
      try await client.withClient { run in
        await run.goOffline()
        switch id {
        case .tree(let id): try await run.tern.tree.discard(try await run.rejectedWrite(id))
        case .documents(let id):
          try await run.tern.documents.discard(try await run.rejectedBatch(id))
        }
      }
    }
  }
}

/// The number of a write in the list: `7` in the tree, `d7` among the batches of documents.
enum PendingNumber: ExpressibleByArgument {
  case tree(UInt64)
  case documents(UInt64)

  init?(argument: String) {
    let isDocuments = argument.hasPrefix("d")
    guard let number = UInt64(argument.dropFirst(isDocuments ? 1 : 0)) else { return nil }
    self = isDocuments ? .documents(number) : .tree(number)
  }
}

/// Checks that the folder of a cache is there: to look into it must not make it.
func requireFolder(_ client: ClientFlags) throws {
  if let folder = client.cache, !FileManager.default.fileExists(atPath: folder) {
    throw Failure(.notFound, "there is no folder \(folder)")
  }
}

func requireCache(_ client: ClientFlags) throws {
  guard client.cache != nil else {
    throw ValidationError("--cache is missing: only a folder keeps writes")
  }
}

extension ClientRun {
  /// Keeps the client away from the server.
  func goOffline() async {
    await tern.tree.goOffline()
    await tern.documents.goOffline()
  }

  /// The number of writes that the server rejected.
  var rejectedCount: Int {
    get async {
      let documents = await tern.documents.queueStatus.rejected.count
      return await tern.tree.rejectedWrites.count + documents
    }
  }

  /// The rejected write of that number.
  func rejectedWrite(_ id: UInt64) async throws(Failure) -> RejectedTreeWrite {
    guard let found = await tern.tree.rejectedWrites.first(where: { $0.id == id }) else {
      throw Failure(.notFound, "no rejected write has the number \(id)")
    }
    return found
  }

  /// The rejected batch of documents of that number.
  func rejectedBatch(_ id: UInt64) async throws(Failure) -> RejectedDocumentBatch {
    let rejected = await tern.documents.queueStatus.rejected
    guard let found = rejected.first(where: { $0.id == id }) else {
      throw Failure(.notFound, "no rejected batch has the number d\(id)")
    }
    return found
  }

  /// Waits until no write is pending; `false` when the time is over or the server away.
  func isDrained() async -> Bool {
    let tree: Void? = await firstAnswer(.reachable(nil)) {
      for await status in tern.tree.queue where status.pending.isEmpty { return }
    }
    guard tree != nil else { return false }
    let documents: Void? = await firstAnswer(.reachable(tern.documents.connection)) {
      for await status in tern.documents.queue where status.pending.isEmpty { return }
    }
    return documents != nil
  }
}

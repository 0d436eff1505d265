import ArgumentParser
import TernClient
import TernCore
import TernSync

/// `tern pending`: the writes of a cache folder that are not part of the shared tree.
struct Pending: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, send, retry or discard the writes a --cache folder keeps.",
    discussion: """
      Pending writes wait for a server. Rejected ones were refused by it, and stay until they \
      are retried or discarded.
      """,
    subcommands: [List.self, Send.self, Retry.self, Discard.self, Salvage.self],
    defaultSubcommand: List.self)

  /// Lists them.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List pending and rejected writes; asks no server.")

    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try await client.withClient { run in
        await run.tern.tree.goOffline()
        let pending = await run.tern.tree.pendingWrites
        let rejected = await run.tern.tree.rejectedWrites
        for write in pending {
          printLine(writeLine("pending", write.id, write.write, nil, asJSON: client.json))
        }
        for write in rejected {
          printLine(
            writeLine("rejected", write.id, write.write, write.reason.status, asJSON: client.json))
        }
        if pending.isEmpty && rejected.isEmpty && !client.json { printLine("nothing is waiting") }
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
      try await client.withClient { run in
        let before = await run.tern.tree.rejectedWrites.count
        await run.tern.tree.goOnline()
        guard await run.isDrained() else { throw Failure.unreachable }
        let refused = await run.tern.tree.rejectedWrites.count - before
        guard refused == 0 else {
          throw Failure(.refused, "the server refused \(refused); see: tern pending")
        }
      }
    }
  }

  /// Sends a rejected one again.
  struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Send a rejected write again.")

    @Argument(help: "Its number in the list.") var id: UInt64
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try await client.withClient { run in
        let rejected = try await run.rejectedWrite(id)
        let write = try await run.tern.tree.retry(rejected)
        try await run.finish(write, at: rejected.write.path, asJSON: client.json)
      }
    }
  }

  /// Gives a rejected one up.
  struct Discard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a rejected write up.")

    @Argument(help: "Its number in the list.") var id: UInt64
    @OptionGroup var client: ClientFlags

    func validate() throws { try requireCache(client) }

    func run() async throws {
      try await client.withClient { run in
        await run.tern.tree.goOffline()
        try await run.tern.tree.discard(try await run.rejectedWrite(id))
      }
    }
  }
}

func requireCache(_ client: ClientFlags) throws {
  guard client.cache != nil else {
    throw ValidationError("--cache is missing: only a folder keeps writes")
  }
}

extension ClientRun {
  /// The rejected write of that number.
  func rejectedWrite(_ id: UInt64) async throws(Failure) -> RejectedTreeWrite {
    guard let found = await tern.tree.rejectedWrites.first(where: { $0.id == id }) else {
      throw Failure(.notFound, "no rejected write has the number \(id)")
    }
    return found
  }

  /// Waits until no write is pending; `false` when the time is over or the server away.
  func isDrained() async -> Bool {
    await firstAnswer {
      for await status in tern.tree.queue where status.pending.isEmpty { return }
    } != nil
  }
}

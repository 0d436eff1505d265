import ArgumentParser
import Foundation
import TernAssembly
import TernClient
import TernStandard

/// A client that does what it is told on standard input, and is made to be killed.
///
/// `stored KIND N` is printed when a write is durable on this device, `acked KIND N` when the
/// server has it; whatever was printed has to hold whichever process is killed afterwards.
@main struct Torture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tern-torture",
    abstract: "A client that is made to be killed.",
    discussion: """
      Commands, one a line: "write COUNT" makes writes one after the other, "burst COUNT" without \
      waiting for the disk; "online" tries to connect at once; "leave NAME" registers a write for \
      the end of the connection; "settle" waits until the server has everything; "meet NAME..." \
      waits until every named client has come to a meeting; "tree" prints everything that is \
      known, the tree and then the documents. Every second write is one to documents as well. \
      "as TOKEN" signs somebody in and "as" everybody out, "mark COUNT" makes writes under the \
      name of whoever that is, and "drain" waits until the server has theirs. The end of the \
      input ends the program.
      """)

  @Option(help: ArgumentHelp("sqlite, lmdb or memory.", valueName: "kind"))
  var storage: String

  @Option(help: ArgumentHelp("The folder of queue and cache.", valueName: "folder"))
  var path: String = "tern-torture"

  @Option(help: "The port of the server on 127.0.0.1.")
  var port: Int

  @Option(help: "Who writes: the last segment of the places it writes to.")
  var name: String

  @Option(help: "The number of the first write; no number may ever be used twice.")
  var first: Int = 1

  @Option(help: "Decides how large each write is.")
  var seed: UInt64 = 1

  @Flag(help: "Stay without a connection.")
  var offline = false

  func run() async throws {
    let configuration = Configuration(
      storage: ["kind": .string(storage), "path": .string(path)],
      transport: ["kind": "tcp", "port": .integer(Int64(port))])
    let tern = try await Assembler(catalog: .standard).client(from: configuration)
    if offline {
      await tern.tree.goOffline()
      await tern.documents.goOffline()
    }
    let client = TortureClient(tern, name: name, first: first, seed: seed, isOffline: offline)
    await client.begin()
    printLine("open \(await client.user)")
    let commands = AsyncStream<String> { stream in
      Thread.detachNewThread {
        while let line = readLine() { stream.yield(line) }
        stream.finish()
      }
    }
    for await command in commands { try await client.perform(command) }
    await tern.close()
  }
}

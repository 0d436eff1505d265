import TernAssembly
import TernClient
import TernCore
import TernStandard
import TernSync

/// The first program of the README, with the configuration and the output handed in.
///
/// - Parameter end: Returns when the program may end.
func firstProgram(
  _ configuration: Configuration, print: @escaping @Sendable (String) -> Void,
  until end: () async -> Void
) async throws {
  // README begins
  let tern = try await Assembler(catalog: .standard).client(from: configuration)
  let room = tern.tree["rooms/42"]

  let listening = Task {
    for try await snapshot in room.values() { print(snapshot.node.json(.value)) }
  }
  await tern.tree.goOffline()
  let write = try await room["title"].set("Hi")  // safe on this device, and heard at once
  await tern.tree.goOnline()
  try await write.acknowledged()  // the server has it
  // README ends
  await end()
  listening.cancel()
  await tern.close()
}

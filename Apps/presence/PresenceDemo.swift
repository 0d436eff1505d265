import TernKit
import TernServerKit

/// A server and three devices in one process, without a file or a port.
enum PresenceDemo {
  /// Plays it once; ends when ann is gone from both of her devices.
  static func play() async throws {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(from: .inMemory)
    let laptop = try await assembler.client(from: .inMemory)
    let phone = try await assembler.client(from: .inMemory)
    let tablet = try await assembler.client(from: .inMemory)
    let ann = Presence(laptop.tree, user: "ann", device: "laptop")
    let annToo = Presence(phone.tree, user: "ann", device: "phone")
    let bob = Presence(tablet.tree, user: "bob", device: "tablet")
    let tasks = [ann, annToo, bob].map { presence in Task { try await presence.announce() } }

    print("ann comes on two devices, bob on one")
    try await show(bob) { $0 == ["ann is online: laptop, phone", "bob is online: tablet"] }
    print("ann's phone loses its connection")
    await phone.goOffline()
    try await show(bob) { $0.first == "ann is online: laptop" }
    print("ann closes the laptop")
    await laptop.close()
    try await show(bob) { $0.first?.hasPrefix("ann was last seen at ") == true }
    print("the phone is back")
    await phone.goOnline()
    try await show(bob) { $0.first == "ann is online: phone" }

    for task in tasks { task.cancel() }
    await phone.close()
    await tablet.close()
    await server.stop()
  }

  /// Prints the list once it is as expected.
  private static func show(
    _ presence: Presence, until isExpected: ([String]) -> Bool
  ) async throws {
    for try await lines in presence.everybody() where isExpected(lines) {
      for line in lines { print("  \(line)") }
      return
    }
  }
}

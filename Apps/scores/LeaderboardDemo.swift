import TernKit
import TernServerKit

/// A server and two devices in one process, without a file or a port.
enum LeaderboardDemo {
  /// Plays one round; ends when both devices show the same.
  static func play() async throws {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(from: .inMemory)
    let phone = try await assembler.client(from: .inMemory)
    let tablet = try await assembler.client(from: .inMemory)
    let onPhone = Leaderboard(phone.tree["leaderboard"])
    let onTablet = Leaderboard(tablet.tree["leaderboard"])
    try await onPhone.keep()
    try await onTablet.keep()

    print("ann scores 10 on the phone, bob 7 on the tablet")
    try await onPhone.add(10, to: "ann").acknowledged()
    try await onTablet.add(7, to: "bob").acknowledged()
    try await show(onPhone, until: ["1. ann 10", "2. bob 7"])

    print("the phone goes offline; ann scores 2 there, bob 9 on the tablet")
    await phone.goOffline()
    let write = try await onPhone.add(2, to: "ann")
    try await onTablet.add(9, to: "bob").acknowledged()
    try await show(onPhone, until: ["1. ann 12 *", "2. bob 7"])

    print("the phone is back")
    await phone.goOnline()
    try await write.acknowledged()
    try await show(onPhone, until: ["1. bob 16", "2. ann 12"])
    try await show(onTablet, until: ["1. bob 16", "2. ann 12"])

    await phone.close()
    await tablet.close()
    await server.stop()
  }

  /// Prints the list once it is the expected one.
  private static func show(_ board: Leaderboard, until expected: [String]) async throws {
    for try await lines in board.top(10) where lines == expected {
      for line in lines { print("  \(line)") }
      return
    }
  }
}

import TernKit

/// Tells others that a user is here on a device, and tells this device who else is.
///
/// Below `presence/USER`, `devices/DEVICE` is there while that device has a connection, and
/// `seen` is the time at which one of them lost it.
struct Presence: Sendable {
  private let tree: TreeDatabase
  private let user: TreeReference
  private let device: TreeReference

  /// A user on a device.
  init(_ tree: TreeDatabase, user: String, device: String) {
    self.tree = tree
    self.user = tree["presence"][user]
    self.device = self.user["devices"][device]
  }

  /// Announces the device on every connection, until the task is cancelled.
  ///
  /// The server removes the device and sets the time by itself, however this program ends.
  func announce() async throws {
    try await device.announce(.timestamp, lastSeen: user["seen"])
  }

  /// One line for every user, now and whenever something changes.
  func everybody() -> some AsyncSequence<[String], ListenError> {
    tree["presence"].values().map { $0.children.map(Self.line) }
  }

  private static func line(_ user: TreeSnapshot) -> String {
    let name = user.name
    let devices = user["devices"].children.map(\.name)
    if !devices.isEmpty { return "\(name) is online: \(devices.joined(separator: ", "))" }
    guard let seen = user["seen"].number else { return "\(name) is not here" }
    return "\(name) was last seen at \(Int(seen)) ms"
  }
}

import TernClient
import TernCore
import TernSync

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

  /// Says that the device is here, again on every new connection, until the task is cancelled.
  ///
  /// What happens at the end is left with the server before anything is said: it is carried out
  /// however this program ends.
  func appear() async throws {
    for try await snapshot in tree[".info/connected"].values() where snapshot.bool == true {
      try await device.onDisconnect.remove()
      try await user["seen"].onDisconnect.set(.timestamp)
      try await device.set(.timestamp)
    }
  }

  /// One line for every user, now and whenever something changes.
  func everybody() -> some AsyncSequence<[String], ListenError> {
    tree["presence"].values().map { $0.children.map(Self.line) }
  }

  private static func line(_ user: TreeSnapshot) -> String {
    let name = user.key?.text ?? ""
    let devices = user["devices"].children.compactMap(\.key?.text)
    if !devices.isEmpty { return "\(name) is online: \(devices.joined(separator: ", "))" }
    guard let seen = user["seen"].number else { return "\(name) is not here" }
    return "\(name) was last seen at \(Int(seen)) ms"
  }
}

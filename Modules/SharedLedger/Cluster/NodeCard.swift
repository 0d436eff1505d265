public import TernCommitLog

/// The words of a node about itself, which the others read in the log.
///
/// They are the address of a lease that each node holds for itself: its name says which node it is,
/// its beat that the node lives.
public struct NodeCard: Hashable, Sendable {
  /// The part that a node plays.
  public enum Role: String, Hashable, Sendable {
    /// Its copy is not current yet.
    case starting
    /// Its copy follows the log.
    case standby
    /// It holds the lease.
    case leader
    /// It can never lead again.
    case failed
  }

  /// The node's part.
  public var role: Role
  /// The position that its copy has reached.
  public var position: LogPosition
  /// The version of its program; empty when the program does not tell.
  public var version: String
  /// The address at which clients reach it; may be empty.
  public var address: String

  /// A card.
  public init(role: Role, position: LogPosition, version: String, address: String) {
    self.role = role
    self.position = position
    self.version = version
    self.address = address
  }

  /// The most bytes of a version; a longer one is cut.
  static let versionBytes = 32
  private static let format = "1"

  /// The card as text: the format, role, position, version and address, with a space between each.
  var text: String {
    let version = version.utf8.prefix(Self.versionBytes).map { $0 == 0x20 ? 0x5F : $0 }
    let known =
      "\(Self.format) \(role.rawValue) \(position) \(String(decoding: version, as: UTF8.self)) "
    // An address that leaves no room for the rest is left out.
    let isShort = known.utf8.count + address.utf8.count <= CommitLogLimits.addressBytes
    return known + (isShort ? address : "")
  }

  /// Reads a card; `nil` for a text of another format.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
    guard words.count == 5, words[0] == Self.format, let role = Role(rawValue: String(words[1])),
      let position = UInt64(words[2])
    else { return nil }
    self.init(
      role: role, position: LogPosition(position), version: String(words[3]),
      address: String(words[4]))
  }
}

/// The names of the leases that nodes use beside the leader's.
enum NodeLease {
  private static let prefix = "node/"
  /// The lease by which an operator asks the leader of a term to step down; its address is the
  /// number of the term.
  static let stepDown = LeaseName("step-down")

  /// The lease by which a node tells that it lives.
  static func name(of node: String) -> LeaseName { LeaseName(prefix + node) }

  /// The node whose lease it is; `nil` for another lease.
  static func node(_ name: LeaseName) -> String? {
    name.text.hasPrefix(prefix) ? String(name.text.dropFirst(prefix.count)) : nil
  }
}

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
    /// Its copy follows the log, and its server serves no clients from it: it stands by, or passes
    /// their connections on.
    case standby
    /// Its copy follows the log, and its server serves clients from it.
    case follower
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
  /// The open links of its server; at a leader, those of other nodes on behalf of their clients are
  /// among them. `nil` when the program does not tell.
  public var links: Int?

  /// A card.
  public init(
    role: Role, position: LogPosition, version: String, address: String, links: Int? = nil
  ) {
    self.role = role
    self.position = position
    self.version = version
    self.address = address
    self.links = links
  }

  /// True for a node whose copy follows the log.
  public var isFollowing: Bool { role == .standby || role == .follower }

  /// The most bytes of a version; a longer one is cut.
  static let versionBytes = 32
  private static let format = "1"
  /// The number of links of a program that does not tell.
  private static let unknown = "-"

  /// The card as text: the format, role, position, version and address, with a space between each;
  /// behind them the role once more and the number of links.
  ///
  /// Nodes of the first version read the address to the end, and know no followers: for them such a
  /// node stands by, and may lead next.
  var text: String {
    let first = role == .follower ? Role.standby : role
    let version = version.utf8.prefix(Self.versionBytes).map { $0 == 0x20 ? 0x5F : $0 }
    let known =
      "\(Self.format) \(first.rawValue) \(position) \(String(decoding: version, as: UTF8.self)) "
    let isTold = role == .follower || links != nil
    let end = isTold ? " \(role.rawValue) \(links.map(String.init) ?? Self.unknown)" : ""
    // An address that leaves no room for the rest is left out.
    let bytes = known.utf8.count + address.utf8.count + end.utf8.count
    return known + (bytes <= CommitLogLimits.addressBytes ? address : "") + end
  }

  /// Reads a card, also one of the first version; `nil` for a text of another format.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
    guard words.count == 5, words[0] == Self.format, let first = Role(rawValue: String(words[1])),
      let position = UInt64(words[2])
    else { return nil }
    let end = Self.end(of: words[4])
    self.init(
      role: end.role ?? first, position: LogPosition(position), version: String(words[3]),
      address: String(end.address), links: end.links)
  }

  /// Tells the address from the words behind it, of which the first version has none.
  private static func end(
    of text: Substring
  ) -> (address: Substring, role: Role?, links: Int?) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 2, let last = words.last,
      let role = Role(rawValue: String(words[words.count - 2]))
    else { return (text, nil, nil) }
    let links = Int(last).flatMap { $0 < 0 ? nil : $0 }
    guard links != nil || last == unknown else { return (text, nil, nil) }
    let count = role.rawValue.count + last.count + 2
    return (text.dropLast(count), role, links)
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

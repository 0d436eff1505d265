import Synchronization

/// Bounds the memory that all clients of a server together can make it hold.
///
/// Bytes are charged before they are kept, to the address of the client and to the user that its
/// session has proved to be, and released when they are not kept any more. An address and a user
/// each have a share. A small part of the total is reserved for addresses that hold little, so that
/// a client that asks for little is served while others hold much.
/// Thread-safe; every call takes constant time. Source: Docs/Decisions/0022-one-memory-budget.md.
public final class MemoryBudget: Sendable {
  /// The purpose of charged bytes.
  public enum Use: Int, CaseIterable, Sendable {
    /// Requests and messages that have not arrived whole.
    case receiving
    /// Whole messages that wait to be decided.
    case waiting
    /// Requests while they are parsed and decided.
    case parsing
    /// Answers over REST that wait to be sent.
    case answers
    /// Frames of sessions that wait to be sent.
    case output
    /// Open connections.
    case connections
    /// Listens: their targets, the state of their queries and their last results.
    case listens
  }

  /// The limits in force, in bytes.
  private struct Limits {
    let total: Int
    let address: Int
    let identity: Int
    let reserved: Int
    let floor: Int

    init(_ total: Int, _ address: Int?, _ identity: Int?) {
      self.total = max(1 << 20, total)
      self.address = min(address ?? self.total / 4, self.total)
      self.identity = min(identity ?? self.total / 4, self.total)
      reserved = self.total / 8
      floor = min(1 << 20, reserved / 16)
    }
  }

  private struct State {
    var limits: Limits
    var used = 0 {
      didSet { peak = max(peak, used) }
    }
    /// The peak since the last reading.
    var peak = 0
    var uses = [Int](repeating: 0, count: Use.allCases.count)
    /// Bytes by address.
    var accounts: [String: Int] = [:]
    /// Bytes by user.
    var users: [String: Int] = [:]

    mutating func add(_ bytes: Int, _ use: Use, _ account: String?, _ user: String?) {
      if let account { Self.add(bytes, to: &accounts[account]) }
      if let user { Self.add(bytes, to: &users[user]) }
      used += bytes
      uses[use.rawValue] += bytes
    }

    /// Accounts of nothing are forgotten.
    static func add(_ bytes: Int, to account: inout Int?) {
      let sum = (account ?? 0) + bytes
      account = sum > 0 ? sum : nil
    }
  }

  /// The most bytes in all.
  public var limitBytes: Int { state.withLock { $0.limits.total } }
  /// The most bytes of one address.
  public var addressBytes: Int { state.withLock { $0.limits.address } }
  /// The most bytes of one user.
  public var identityBytes: Int { state.withLock { $0.limits.identity } }
  /// The part of ``limitBytes`` kept for addresses that hold no more than ``floorBytes``.
  public var reservedBytes: Int { state.withLock { $0.limits.reserved } }
  /// An address that holds no more than this is served out of the reserve.
  public var floorBytes: Int { state.withLock { $0.limits.floor } }
  private let state: Mutex<State>

  /// A budget of which nothing is used.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes in all, 1 MiB or more.
  ///   - addressBytes: The most bytes of one address; `nil` for a quarter of the total.
  ///   - identityBytes: The most bytes of one user; `nil` for a quarter of the total.
  public init(limitBytes: Int, addressBytes: Int? = nil, identityBytes: Int? = nil) {
    state = Mutex(State(limits: Limits(limitBytes, addressBytes, identityBytes)))
  }

  /// Changes the limits; what is charged stays charged, also where it is more than they allow now.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes in all, 1 MiB or more.
  ///   - addressBytes: The most bytes of one address; `nil` for a quarter of the total.
  ///   - identityBytes: The most bytes of one user; `nil` for a quarter of the total.
  public func resize(limitBytes: Int, addressBytes: Int? = nil, identityBytes: Int? = nil) {
    state.withLock { $0.limits = Limits(limitBytes, addressBytes, identityBytes) }
  }

  /// The bytes charged now.
  public var usedBytes: Int { state.withLock { $0.used } }

  /// Returns the most bytes that were charged at once since the last call.
  public func takePeak() -> Int {
    state.withLock { state in exchange(&state.peak, with: state.used) }
  }

  /// The bytes charged now for one purpose.
  public func usedBytes(for use: Use) -> Int { state.withLock { $0.uses[use.rawValue] } }

  /// The bytes charged now to one address.
  public func usedBytes(of address: String) -> Int {
    state.withLock { $0.accounts[Self.account(of: address), default: 0] }
  }

  /// The bytes charged now to one user.
  public func usedBytes(ofUser user: String) -> Int {
    state.withLock { $0.users[user, default: 0] }
  }

  /// `true` if little memory is left: the caller should slow clients that hold much of it.
  public var isTight: Bool {
    state.withLock { state in
      state.used > state.limits.total - 2 * state.limits.reserved
        || state.uses[Use.output.rawValue] > state.limits.total / 4
    }
  }

  /// True when clients hold so much that some of the output has to be dropped: all but the reserve
  /// is used, or output alone takes half of the total.
  public var isShort: Bool {
    state.withLock { state in
      state.used > state.limits.total - state.limits.reserved
        || state.uses[Use.output.rawValue] > state.limits.total / 2
    }
  }

  /// The bytes by which the output can grow before some of it has to be dropped; see ``isShort``.
  public var outputRoomBytes: Int {
    state.withLock { state in
      let ofOutput = state.limits.total / 2 - state.uses[Use.output.rawValue]
      return max(0, min(ofOutput, state.limits.total - state.limits.reserved - state.used))
    }
  }

  /// Returns the bytes that an address and a user can charge now at the most.
  public func roomBytes(for address: String, user: String? = nil) -> Int {
    let account = Self.account(of: address)
    return state.withLock { state in
      let held = state.accounts[account, default: 0]
      let limits = state.limits
      let small = min(limits.floor - held, limits.total - state.used)
      let large = min(limits.address - held, limits.total - limits.reserved - state.used)
      let own = user.map { limits.identity - state.users[$0, default: 0] } ?? .max
      return max(0, min(own, max(small, large)))
    }
  }

  /// Charges bytes to an address, and to a user.
  ///
  /// - Returns: `false`, and nothing is charged, when a share or the total do not allow them.
  public func charge(
    _ bytes: Int, _ use: Use, to address: String, user: String? = nil
  ) -> Bool {
    let account = Self.account(of: address)
    return state.withLock { state in
      let held = state.accounts[account, default: 0] + bytes
      let used = state.used + bytes
      let limits = state.limits
      let isSmall = held <= limits.floor && used <= limits.total
      guard isSmall || held <= limits.address && used <= limits.total - limits.reserved else {
        return false
      }
      if let user, state.users[user, default: 0] + bytes > limits.identity { return false }
      state.add(bytes, use, account, user)
      return true
    }
  }

  /// Charges bytes that are held already, whatever the limits say.
  ///
  /// - Parameters:
  ///   - address: `nil` for bytes that clients of several addresses hold together.
  ///   - user: `nil` for clients that have proved no identity.
  public func count(_ bytes: Int, _ use: Use, to address: String?, user: String? = nil) {
    let account = address.map(Self.account)
    state.withLock { $0.add(bytes, use, account, user) }
  }

  /// Releases bytes that were charged or counted.
  public func release(_ bytes: Int, _ use: Use, of address: String?, user: String? = nil) {
    if bytes == 0 { return }
    let account = address.map(Self.account)
    state.withLock { $0.add(-bytes, use, account, user) }
  }

  /// Charges bytes of one user to another one, whatever the limits say: their session has proved
  /// another identity.
  ///
  /// - Returns: Whether the new user is within its share.
  @discardableResult
  public func transfer(_ bytes: Int, from user: String?, to newUser: String?) -> Bool {
    if bytes == 0 || user == newUser { return true }
    return state.withLock { state in
      if let user { State.add(-bytes, to: &state.users[user]) }
      guard let newUser else { return true }
      State.add(bytes, to: &state.users[newUser])
      return state.users[newUser, default: 0] <= state.limits.identity
    }
  }

  /// The account of an address: one for each IPv4 address, one for each /64 network of IPv6.
  package static func account(of address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return address }
    var text = address[...]
    if text.hasPrefix("[") { text = text.dropFirst().prefix { $0 != "]" } }
    if text.hasPrefix("::ffff:") { return String(text.dropFirst("::ffff:".count)) }
    if text.hasPrefix("::") { return String(text) }
    var network = groups(of: text).prefix(4)
    while network.last == "0" { network.removeLast() }
    return network.joined(separator: ":") + "::"
  }

  /// The groups of an IPv6 address, with the zeros that it leaves out.
  private static func groups(of address: Substring) -> [Substring] {
    let parts = address.split(separator: ":", omittingEmptySubsequences: false)
    guard let gap = parts.firstIndex(where: \.isEmpty) else { return parts }
    let tail = parts[gap...].filter { !$0.isEmpty }
    let zeros = [Substring](repeating: "0", count: max(0, 8 - gap - tail.count))
    return Array(parts[..<gap]) + zeros + tail
  }
}

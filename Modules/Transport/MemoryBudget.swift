import Synchronization

/// Bounds the memory that all clients of a server together can make it hold.
///
/// Bytes are charged before they are kept, by the address of the client, and released when they are
/// not kept any more. An address has a share. A small part of the total is reserved for addresses
/// that hold little, so that a client that asks for little is served while others hold much.
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
  }

  private struct State {
    var used = 0 {
      didSet { peak = max(peak, used) }
    }
    /// The peak since the last reading.
    var peak = 0
    var uses = [Int](repeating: 0, count: Use.allCases.count)
    var accounts: [String: Int] = [:]
  }

  /// The most bytes in all.
  public let limitBytes: Int
  /// The most bytes of one address.
  public let addressBytes: Int
  /// The part of ``limitBytes`` kept for addresses that hold no more than ``floorBytes``.
  public let reservedBytes: Int
  /// An address that holds no more than this is served out of the reserve.
  public let floorBytes: Int
  private let state = Mutex(State())

  /// A budget of which nothing is used.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes in all, 1 MiB or more.
  ///   - addressBytes: The most bytes of one address; `nil` for a quarter of the total.
  public init(limitBytes: Int, addressBytes: Int? = nil) {
    self.limitBytes = max(1 << 20, limitBytes)
    self.addressBytes = min(addressBytes ?? self.limitBytes / 4, self.limitBytes)
    reservedBytes = self.limitBytes / 8
    floorBytes = min(1 << 20, reservedBytes / 16)
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

  /// Whether clients hold so much that some of what waits to be sent has to go: all but the reserve
  /// is used, or output alone takes half of the total.
  public var isShort: Bool {
    state.withLock { state in
      state.used > limitBytes - reservedBytes
        || state.uses[Use.output.rawValue] > limitBytes / 2
    }
  }

  /// The bytes that an address can charge now at the most.
  public func roomBytes(for address: String) -> Int {
    let account = Self.account(of: address)
    return state.withLock { state in
      let held = state.accounts[account, default: 0]
      let small = min(floorBytes - held, limitBytes - state.used)
      let large = min(addressBytes - held, limitBytes - reservedBytes - state.used)
      return max(0, small, large)
    }
  }

  /// Charges bytes to an address.
  ///
  /// - Returns: `false`, and nothing is charged, when its share or the total do not allow them.
  public func charge(_ bytes: Int, _ use: Use, to address: String) -> Bool {
    let account = Self.account(of: address)
    return state.withLock { state in
      let held = state.accounts[account, default: 0] + bytes
      let used = state.used + bytes
      let isSmall = held <= floorBytes && used <= limitBytes
      guard isSmall || held <= addressBytes && used <= limitBytes - reservedBytes else {
        return false
      }
      state.accounts[account] = held
      state.used = used
      state.uses[use.rawValue] += bytes
      return true
    }
  }

  /// Charges bytes that are held already, whatever the limits say.
  ///
  /// - Parameter address: `nil` for bytes that clients of several addresses hold together.
  public func count(_ bytes: Int, _ use: Use, to address: String?) {
    let account = address.map(Self.account)
    state.withLock { state in
      if let account { state.accounts[account, default: 0] += bytes }
      state.used += bytes
      state.uses[use.rawValue] += bytes
    }
  }

  /// Releases bytes that were charged or counted.
  public func release(_ bytes: Int, _ use: Use, of address: String?) {
    if bytes == 0 { return }
    let account = address.map(Self.account)
    state.withLock { state in
      if let account, let held = state.accounts[account] {
        state.accounts[account] = held > bytes ? held - bytes : nil
      }
      state.used -= bytes
      state.uses[use.rawValue] -= bytes
    }
  }

  /// The account of an address: one for each IPv4 address, one for each /64 network of IPv6.
  static func account(of address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return address }
    var text = address[...]
    if text.hasPrefix("[") { text = text.dropFirst().prefix { $0 != "]" } }
    if text.hasPrefix("::ffff:") { return String(text.dropFirst("::ffff:".count)) }
    var groups: [Substring] = []
    for group in text.split(separator: ":", omittingEmptySubsequences: false) {
      if group.isEmpty || groups.count == 4 { break }
      groups.append(group)
    }
    // Groups that are left out are zero.
    return groups.isEmpty ? String(text) : groups.joined(separator: ":") + "::"
  }
}

/// The header by which a node of a cluster names the client of a connection that it relays: version
/// 2 of the PROXY protocol, with a field that proves that the node knows the cluster's secret.
///
/// Source: Docs/Formats/node-relay.md.
package struct RelayHeader: Equatable, Sendable {
  /// Returns the code of a message under the cluster's secret: ``codeBytes`` bytes.
  package typealias Coding = @Sendable ([UInt8]) -> [UInt8]

  /// The first bytes of a connection, as a header.
  package enum Reading: Equatable, Sendable {
    /// More bytes are needed to tell.
    case undecided
    /// The bytes begin with no header of a relay.
    case other
    /// The header's code is not that of the cluster's secret and this node's address.
    case forged
    /// The header, which is so long.
    case whole(RelayHeader, byteCount: Int)
  }

  /// The client, by its address and port. The port is 0 for a client of this process.
  package var client: ProxyHeader.Client
  /// The time at which the header was made, in milliseconds since 1970.
  package var time: Int64
  /// A number that the relaying node drew at random, for this connection alone.
  package var nonce: UInt128
  /// True when the client is to count as one of another machine, whatever its address; see
  /// ``RelayedClient/isRemote``.
  package var isRemote = false
  /// True when the node that sends it belongs to another shard: what the connection carries is not
  /// passed on once more.
  package var isOfOtherShard = false

  /// A header for a client's connection.
  package init(
    client: ProxyHeader.Client, time: Int64, nonce: UInt128, isRemote: Bool = false,
    isOfOtherShard: Bool = false
  ) {
    self.client = client
    self.time = time
    self.nonce = nonce
    self.isRemote = isRemote
    self.isOfOtherShard = isOfOtherShard
  }

  /// The bytes of a code.
  package static let codeBytes = 32
  /// The type of the field, among those that the protocol leaves to its users.
  private static let fieldType: UInt8 = 0xE7
  /// The beginning of the field's value: its version, and in version 2 the flags. Version 1 is
  /// written where it says enough: every node reads it.
  private static let plain: [UInt8] = [1]
  /// The version of the field that is followed by a byte of flags.
  private static let flagged: UInt8 = 2
  /// The bit of ``isRemote``.
  private static let remoteFlag: UInt8 = 1
  /// The bit of ``isOfOtherShard``.
  private static let shardFlag: UInt8 = 2
  /// Signature, version and command, family, and length: the fixed part of version 2.
  private static let headBytes = 16

  /// Returns the bytes of the field's value: its beginning, time, nonce and code.
  private static func valueBytes(_ beginning: [UInt8]) -> Int {
    beginning.count + 8 + 16 + codeBytes
  }
  /// The beginning of every message under the secret. It separates these codes from others that
  /// the same secret may be used for.
  private static let label = Array("tern relay".utf8) + [0]

  /// Returns the bytes of the header for the node at `address`.
  ///
  /// The layout is in Docs/Formats/node-relay.md. The length is 88 bytes for IPv4 and 112 for
  /// IPv6, one more with flags.
  ///
  /// - Returns: `nil` when the client's address is no address of IP.
  package func bytes(to address: String, _ code: Coding) -> [UInt8]? {
    guard let source = TrustedProxies.bytes(of: client.address) else { return nil }
    let flags = (isRemote ? Self.remoteFlag : 0) | (isOfOtherShard ? Self.shardFlag : 0)
    let beginning = flags == 0 ? Self.plain : [Self.flagged, flags]
    let valueBytes = Self.valueBytes(beginning)
    let length = 2 * source.count + 4 + 3 + valueBytes
    var bytes = ProxyHeader.signature
    bytes += [0x21, source.count == 4 ? 0x11 : 0x21]
    bytes += Self.big(UInt16(length))
    // The destination is the receiver itself.
    bytes += source + [UInt8](repeating: 0, count: source.count)
    bytes += Self.big(UInt16(truncatingIfNeeded: client.port)) + [0, 0]
    bytes += [Self.fieldType] + Self.big(UInt16(valueBytes)) + beginning
    bytes += Self.big(UInt64(bitPattern: time)) + Self.big(nonce)
    return bytes + code(Self.message(bytes, to: address))
  }

  /// Reads the first bytes of a connection at the node whose own address is `address`.
  ///
  /// The code is checked last, over bytes that are known to be there. The time and the nonce
  /// are left to ``RelayAdmission``.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes, from the very first one; those behind the header are ignored.
  ///   - address: The address of this node, which the code covers.
  ///   - code: Computes a code under the cluster's secret.
  package static func read(
    _ bytes: [UInt8], at address: String, _ code: Coding
  ) -> Reading {
    guard zip(bytes, ProxyHeader.signature).allSatisfy({ $0 == $1 }) else { return .other }
    guard bytes.count >= headBytes else { return .undecided }
    let size: Int
    switch (bytes[12], bytes[13]) {
    case (0x21, 0x11): size = 4
    case (0x21, 0x21): size = 16
    default: return .other
    }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    let field = headBytes + 2 * size + 4
    var beginning = plain
    var flags: UInt8 = 0
    if headBytes + length == field + 3 + valueBytes([flagged, flags]) {
      guard bytes.count > field + 4 else { return .undecided }
      flags = bytes[field + 4]
      // Unknown flags, or none, make it a header of some other kind: version 1 is the only form
      // without flags.
      guard (remoteFlag...(remoteFlag | shardFlag)).contains(flags) else { return .other }
      beginning = [flagged, flags]
    }
    guard headBytes + length == field + 3 + valueBytes(beginning) else { return .other }
    let known = [fieldType] + big(UInt16(valueBytes(beginning))) + beginning
    guard zip(bytes.dropFirst(field), known).allSatisfy({ $0 == $1 }) else { return .other }
    guard bytes.count >= headBytes + length else { return .undecided }
    let signed = headBytes + length - codeBytes
    let expected = code(message(Array(bytes[..<signed]), to: address))
    guard agree(bytes[signed..<(signed + codeBytes)], expected) else { return .forged }
    let source = Array(bytes[headBytes..<(headBytes + size)])
    let port = Int(bytes[headBytes + 2 * size]) << 8 | Int(bytes[headBytes + 2 * size + 1])
    let value = bytes[(field + 3 + beginning.count)...]
    let header = RelayHeader(
      client: ProxyHeader.Client(address: ProxyHeader.name(of: source), port: port),
      time: Int64(bitPattern: value.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }),
      nonce: value.dropFirst(8).prefix(16).reduce(0) { $0 << 8 | UInt128($1) },
      isRemote: flags & remoteFlag != 0, isOfOtherShard: flags & shardFlag != 0)
    return .whole(header, byteCount: headBytes + length)
  }

  /// The receiver's address is part of what the code covers, so that no other node takes it.
  private static func message(_ bytes: [UInt8], to address: String) -> [UInt8] {
    label + Array(address.utf8) + [0] + bytes
  }

  /// Compares in a time that does not depend on where the codes differ.
  private static func agree(_ left: ArraySlice<UInt8>, _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Returns the bytes of a number, the most significant one first.
  private static func big(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    stride(from: number.bitWidth - 8, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: number >> $0)
    }
  }
}

/// Decides whether an authentic header is believed: it has to be fresh, and new.
///
/// Every nonce is remembered for as long as its header could count as fresh, so that a recorded
/// connection cannot be opened a second time. Beyond ``RelayLimits/nonces`` headers in that
/// time, further ones are rejected rather than old nonces forgotten.
struct RelayAdmission: Sendable {
  /// The answer to a header.
  enum Verdict: Hashable {
    case admitted
    /// Its time is too far from this node's.
    case stale
    /// It was seen before.
    case replayed
    /// So many came lately that they cannot be told apart from repetitions.
    case overloaded
  }

  private let limit: Int
  private var nonces: Set<UInt128> = []
  /// The nonces with the times after which they are too old to be believed again.
  private var order: [(expiry: Int64, nonce: UInt128)] = []
  /// The index of the oldest nonce in ``order``; those before it are forgotten.
  private var first = 0

  init(limit: Int = RelayLimits.nonces) { self.limit = limit }

  /// The nonces that are remembered.
  var count: Int { nonces.count }

  /// Decides about a header, and remembers its nonce when it is admitted. O(1), spread over all
  /// calls.
  ///
  /// - Parameter now: Milliseconds since 1970.
  mutating func admit(_ header: RelayHeader, now: Int64) -> Verdict {
    let window = RelayLimits.clockDifferenceMilliseconds
    forget(before: now)
    // A time near the end of its range must not trap: it comes from the network, and only a
    // node can have made it, but a node may be faulty.
    let (difference, isOver) = now.subtractingReportingOverflow(header.time)
    guard !isOver, (-window...window).contains(difference) else { return .stale }
    if nonces.contains(header.nonce) { return .replayed }
    guard nonces.count < limit else { return .overloaded }
    nonces.insert(header.nonce)
    // A header from a clock that is ahead stays fresh for longer. In the order of arrival, none is
    // forgotten too early: each is kept for the longest time that it could be fresh.
    order.append((now + 2 * window, header.nonce))
    return .admitted
  }

  /// Forgets the nonces that are too old for their headers to be fresh.
  private mutating func forget(before now: Int64) {
    while first < order.count, order[first].expiry < now {
      nonces.remove(order[first].nonce)
      first += 1
    }
    // The front of the array is given up in large pieces, so that each element moves a bounded
    // number of times.
    if first > 1_024, first > order.count / 2 {
      order.removeFirst(first)
      first = 0
    }
  }
}

/// The limits of relaying between the nodes of a cluster.
package enum RelayLimits {
  /// The most connections to other nodes at a time, on behalf of clients: those that are relayed,
  /// and upstream links.
  package static let connections = 8_192
  /// The longest time that reaching the leader may take.
  package static let connectSeconds: Int64 = 3
  /// The longest time that a client's connection waits for a node that leads: a takeover, with
  /// leases of a few seconds.
  package static let holdSeconds: Int64 = 8
  /// The longest time that a connection of another node waits for this one to lead, while it serves
  /// clients from its copy.
  package static let copyHoldSeconds: Int64 = 1
  /// The pause between two looks whether there is one.
  package static let lookMilliseconds: Int64 = 50
  /// The pause before a leader that was not reached is tried again: many may wait for it, and each
  /// attempt is a connection.
  package static let retryMilliseconds: Int64 = 500
  /// The most connections that wait at a time.
  package static let held = 2_048
  /// The time that a client has to take what the leader sent before it closed the connection.
  package static let lingerSeconds: Int64 = 5
  /// The most that the clocks of two nodes may differ for a header to be believed.
  package static let clockDifferenceMilliseconds: Int64 = 15_000
  /// The time for which an address counts as that of a node after a header that was believed.
  package static let proofSeconds: Int64 = 60
  /// The headers of the latest connections that a leader remembers, to recognize repetitions.
  package static let nonces = 131_072
}

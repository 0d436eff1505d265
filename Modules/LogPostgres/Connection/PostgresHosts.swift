import CPostgres

/// A server that a connection may be made to.
struct PostgresHost: Hashable, Sendable {
  /// The name, or the folder of a local socket; empty for the standard one.
  let name: String
  /// The address that the name stands for; empty where libpq finds it.
  let address: String
  let port: String

  init(name: String, address: String, port: String) {
    self.name = name
    self.address = address
    self.port = port.isEmpty ? "5432" : port
  }

  /// The hosts of libpq's settings: lists with commas, of which the ports may be one for all.
  static func list(names: String, addresses: String, ports: String) -> [PostgresHost] {
    if names.isEmpty, addresses.isEmpty { return [] }
    let parts = [names, addresses, ports].map { text in
      text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
    }
    func part(_ list: Int, _ index: Int) -> String {
      parts[list].indices.contains(index) ? String(parts[list][index]) : ""
    }
    return (0..<max(parts[0].count, parts[1].count)).map { index in
      PostgresHost(
        name: part(0, index), address: part(1, index),
        port: part(2, parts[2].count == 1 ? 0 : index))
    }
  }

  /// True when both are the same server, as far as their addresses are known.
  func isSame(as other: PostgresHost) -> Bool {
    let names = [name, other.name]
    // A host that has an address alone is called by that.
    let hasName = name == other.name || names == [other.address, ""] || names == ["", address]
    let hasAddress = address == other.address || address.isEmpty || other.address.isEmpty
    return hasName && hasAddress && port == other.port
  }
}

/// The order in which attempts to connect try the hosts of a connection.
///
/// libpq tries them one after the other and begins each attempt with the first one. It leaves a
/// host that refuses, and waits for one that is silent for as long as the system does. So an
/// attempt that has met a silent host is given up, and the next one begins behind that host.
///
/// It belongs to one worker. ``order`` is empty, so that libpq uses its own settings, until an
/// attempt has failed.
struct PostgresHosts: Sendable {
  /// The hosts as the connection names them.
  private var listed: [PostgresHost] = []
  /// The host at which the latest attempt has failed; `nil` before one has.
  private var failed: PostgresHost?
  private var attempts = 0
  private let addresses: @Sendable (_ name: String) -> [String]

  /// The shortest share of an attempt that one host gets, in milliseconds.
  static let shortestShare: Int64 = 1_000

  /// - Parameter addresses: Finds the addresses of a name.
  init(addresses: @escaping @Sendable (_ name: String) -> [String] = Self.resolve) {
    self.addresses = addresses
  }

  /// The hosts in the order of the next attempt; empty for that of the connection.
  var order: [PostgresHost] {
    guard let failed else { return [] }
    let all = listed.flatMap(expanded)
    guard all.count > 1, let index = all.firstIndex(where: failed.isSame) else { return [] }
    return Array(all[(index + 1)...] + all[...index])
  }

  /// The settings of libpq for hosts in an order.
  static func settings(_ order: [PostgresHost]) -> [(keyword: String, value: String)] {
    guard !order.isEmpty else { return [] }
    let lists = [
      ("host", order.map(\.name)), ("hostaddr", order.map(\.address)), ("port", order.map(\.port)),
    ]
    return lists.filter { !$0.1.allSatisfy(\.isEmpty) }.map { ($0.0, $0.1.joined(separator: ",")) }
  }

  /// The time for which an attempt waits for one of its hosts, in milliseconds.
  static func share(of timeout: Int64, hosts: Int) -> Int64 {
    max(timeout / Int64(max(1, hosts)), min(timeout, shortestShare))
  }

  /// Notes that an attempt has failed, and at which of its hosts.
  ///
  /// - Parameter hosts: The hosts of the failed attempt's settings.
  mutating func noteFailure(at host: PostgresHost, of hosts: [PostgresHost]) {
    // Those of an attempt in an order of ours have addresses that may be others by now.
    if failed == nil { listed = hosts }
    failed = host
    attempts += 1
    // All had their turn. What the connection names may have changed: a service file, a name.
    if attempts > listed.flatMap(expanded).count { reset() }
  }

  /// Lets the next attempt begin with the connection's first host.
  mutating func reset() { (listed, failed, attempts) = ([], nil, 0) }

  /// A host with each of its addresses.
  private func expanded(_ host: PostgresHost) -> [PostgresHost] {
    let isName = !host.name.isEmpty && !host.name.hasPrefix("/") && !host.name.hasPrefix("@")
    guard isName, host.address.isEmpty else { return [host] }
    let found = addresses(host.name)
    guard found.count > 1 else { return [host] }
    return found.map { PostgresHost(name: host.name, address: $0, port: host.port) }
  }

  /// Asks the system for the addresses of a name, which may take as long as its resolver does.
  ///
  /// Called only for names, and only after an attempt has failed: a connection that works costs no
  /// extra resolution.
  static let resolve: @Sendable (_ name: String) -> [String] = { name in
    var text = [CChar](repeating: 0, count: 4_096)
    // Safe: the text ends with a zero within its length.
    let lines = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe tern_pq_addresses(name, buffer.baseAddress, buffer.count)
      return unsafe buffer.baseAddress.map { unsafe String(cString: $0) } ?? ""
    }
    return lines.split(separator: "\n").map(String.init)
  }
}

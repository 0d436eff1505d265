#if TCP
  import TernTransport

  /// Connections that were accepted and wait to be set up, which costs far more than the accept.
  ///
  /// The next one is of the address that had the fewest set up in the last seconds; among equals,
  /// the one that has waited longest. An address that opens connection after connection delays its
  /// own ones, and a client that arrives beside it is next. The networks of IPv6 count as one
  /// address each, as they do in `MemoryBudget`.
  /// Source: Docs/Decisions/0071-new-connections-by-address.md.
  struct AcceptQueue<Connection> {
    /// A connection and its place in the order of arrival.
    private struct Waiting {
      /// The number of the arrival, 1 for the first; it breaks ties between accounts.
      let number: Int
      let connection: Connection
    }

    /// By account, the oldest first; none is empty.
    private var waiting: [String: [Waiting]] = [:]
    /// The connections that were set up, by account; halved with each second.
    private var recent: [String: Int] = [:]
    /// The number of the newest arrival. It never returns to 0, so numbers stay unique.
    private var last = 0
    /// The connections that wait, over all accounts; kept beside the lists so that reading it
    /// is O(1).
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a connection behind the others of its account. O(1) amortized.
    ///
    /// - Parameter address: The address of the peer without its port; any text is accepted, and
    ///   equal texts share an account.
    mutating func append(_ connection: Connection, of address: String) {
      last += 1
      count += 1
      waiting[MemoryBudget.account(of: address), default: []].append(
        Waiting(number: last, connection: connection))
    }

    /// Removes the connection to set up next. O(waiting addresses).
    ///
    /// - Returns: `nil` only when nothing waits. The pop counts as a setup of the account.
    mutating func popNext() -> Connection? {
      var next: (account: String, rank: Int, number: Int)?
      // The rank is compared before the number: an account without recent setups passes every
      // account that has some, however long their connections have waited.
      for (account, connections) in waiting {
        let rank = (recent[account, default: 0], connections[0].number)
        if let found = next, (found.rank, found.number) < rank { continue }
        next = (account, rank.0, rank.1)
      }
      guard let account = next?.account, var rest = waiting[account] else { return nil }
      waiting[account] = nil
      let first = rest.removeFirst()
      if !rest.isEmpty { waiting[account] = rest }
      recent[account, default: 0] += 1
      count -= 1
      return first.connection
    }

    /// Halves the memory of what was set up, once for each second that has passed.
    mutating func age(by seconds: Int) {
      recent = recent.compactMapValues { count in
        // A shift by more than the width yields 0, so a listener that was idle for long forgets
        // all.
        let rest = count >> seconds
        return rest > 0 ? rest : nil
      }
    }

    /// Removes all that wait, in no order.
    mutating func removeAll() -> [Connection] {
      defer { (waiting, count) = ([:], 0) }
      return waiting.values.flatMap { $0.map(\.connection) }
    }
  }
#endif

import Foundation
import Synchronization

/// Passes bytes on between a client and a server, and cuts a connection after a given byte.
package final class CuttingProxy: Sendable {
  /// One of the two ways through the proxy.
  package enum Direction: Sendable, CaseIterable {
    case toServer, toClient
  }

  private struct State {
    /// The bytes passed in each direction, over all connections.
    var passed: [Direction: Int] = [:]
    /// The connections that are still to be cut.
    var cuts = 0
    /// The bytes that pass in one direction before the next cut, and before each.
    var left = 0
    var bytes = 0
    var direction = Direction.toServer
    var pairs: [(LocalSocket, LocalSocket)] = []
    var isRefusing = false
    var hasEnded = false
    var waiters: [(bytes: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let listener: LocalSocket
  private let server: @Sendable () -> UInt16?
  private let state = Mutex(State())

  /// A proxy before the server at `server`.
  package convenience init(to server: UInt16) throws { try self.init { server } }

  /// A proxy before the server whose port a function tells for each connection; connections for
  /// which there is none are closed at once.
  package init(to server: @escaping @Sendable () -> UInt16?) throws {
    listener = try LocalSocket(listening: 64)
    self.server = server
    Thread.detachNewThread { self.accept() }
  }

  /// The port that the proxy listens at.
  package var port: UInt16 { listener.port }

  /// Returns how many bytes have passed, over all connections.
  package func passed(_ direction: Direction) -> Int {
    state.withLock { $0.passed[direction] ?? 0 }
  }

  /// Cuts each of the next `cuts` connections after `bytes` bytes in one direction.
  package func arm(_ direction: Direction, after bytes: Int, cuts: Int) {
    state.withLock { state in
      (state.direction, state.left, state.bytes, state.cuts) = (direction, bytes, bytes, cuts)
    }
  }

  /// Returns when so many bytes have passed to the server.
  package func hasPassedToServer(_ bytes: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.passed[.toServer] ?? 0 >= bytes { return true }
        state.waiters.append((bytes, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  /// Cuts all connections now.
  package func cutAll() {
    for (client, server) in state.withLock({ $0.pairs }) {
      client.cut()
      server.cut()
    }
  }

  /// Cuts all connections and refuses new ones, until it is told otherwise.
  package func refuse(_ isRefusing: Bool) {
    state.withLock { $0.isRefusing = isRefusing }
    if isRefusing { cutAll() }
  }

  /// Ends the proxy.
  package func end() {
    let pairs = state.withLock { state in
      state.hasEnded = true
      return state.pairs
    }
    listener.cut()
    for (client, server) in pairs {
      client.cut()
      server.cut()
    }
  }

  private func accept() {
    while let client = listener.accept() {
      guard let port = server(), let server = try? LocalSocket(connectingTo: port) else {
        client.close()
        continue
      }
      let hasEnded = state.withLock { state in
        state.pairs.append((client, server))
        return state.hasEnded || state.isRefusing
      }
      if hasEnded {
        client.cut()
        server.cut()
      }
      let ends = Ends()
      Thread.detachNewThread { self.pass(.toServer, client, server, ends) }
      Thread.detachNewThread { self.pass(.toClient, server, client, ends) }
    }
    listener.close()
  }

  /// Counts the two threads of a connection; the last one closes the sockets.
  private final class Ends: Sendable {
    let left = Mutex(2)
  }

  private func pass(
    _ direction: Direction, _ source: LocalSocket, _ target: LocalSocket, _ ends: Ends
  ) {
    while true {
      let bytes = source.read()
      guard !bytes.isEmpty else { break }
      let allowed = allow(direction, bytes.count)
      target.write(bytes.prefix(allowed))
      count(direction, allowed)
      if allowed < bytes.count { break }
    }
    source.cut()
    target.cut()
    let isLast = ends.left.withLock { left in
      left -= 1
      return left == 0
    }
    guard isLast else { return }
    state.withLock { state in
      state.pairs.removeAll {
        $0.0.descriptor == source.descriptor || $0.1.descriptor == source.descriptor
      }
    }
    source.close()
    target.close()
  }

  /// Returns how many of `count` bytes pass; fewer when the connection is to be cut.
  private func allow(_ direction: Direction, _ count: Int) -> Int {
    state.withLock { state in
      guard state.cuts > 0, direction == state.direction else { return count }
      guard count > state.left else {
        state.left -= count
        return count
      }
      state.cuts -= 1
      defer { state.left = state.bytes }
      return state.left
    }
  }

  private func count(_ direction: Direction, _ bytes: Int) {
    let ready = state.withLock { state in
      state.passed[direction, default: 0] += bytes
      let passed = state.passed[.toServer] ?? 0
      let ready = state.waiters.filter { $0.bytes <= passed }
      state.waiters.removeAll { $0.bytes <= passed }
      return ready.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }
}

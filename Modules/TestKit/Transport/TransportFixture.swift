public import TernTransport

/// A transport under test: how to make the two ends of a fresh network of it.
public struct TransportFixture: Sendable, CustomStringConvertible {
  /// The name shown beside a failed check.
  public let name: String
  let makeServer: @Sendable (FrameLimit) throws(TransportError) -> any Transport
  let makeClient:
    @Sendable (any Transport, String, FrameLimit) throws(TransportError) -> any Transport

  /// - Parameters:
  ///   - name: The name shown beside a failed check.
  ///   - server: Makes the end that listens, at an address that is not in use.
  ///   - client: Makes the end that connects, from the end that listens and its address; it may
  ///     be the same object.
  public init(
    _ name: String,
    server: @escaping @Sendable (FrameLimit) throws(TransportError) -> any Transport,
    client:
      @escaping @Sendable (
        _ server: any Transport, _ address: String, FrameLimit
      ) throws(TransportError) -> any Transport
  ) {
    self.name = name
    makeServer = server
    makeClient = client
  }

  public var description: String { name }
}

/// One rule of the transport contract.
public struct TransportCheck: Sendable, CustomStringConvertible {
  /// The rule as a sentence.
  public let name: String
  let limit: FrameLimit
  let body: @Sendable (TransportBench) async throws -> Void

  init(
    _ name: String, limit: FrameLimit = .standard,
    _ body: @escaping @Sendable (TransportBench) async throws -> Void
  ) {
    self.name = name
    self.limit = limit
    self.body = body
  }

  public var description: String { name }

  /// Runs the check on a fresh network and takes it down again.
  ///
  /// - Throws: ``TransportFailure``, or what the transport threw.
  public func run(on fixture: TransportFixture) async throws {
    let bench = try await TransportBench(fixture, limit: limit)
    do {
      try await body(bench)
    } catch {
      await bench.shutdown()
      throw error
    }
    await bench.shutdown()
  }
}

/// The violation of the contract by a transport.
public struct TransportFailure: Error, CustomStringConvertible {
  /// The broken expectation and what happened instead.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Throws unless `condition` holds.
func require(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
  if !condition { throw TransportFailure(expectation()) }
}

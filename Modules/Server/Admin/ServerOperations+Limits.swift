extension ServerOperations {
  /// Lets other limits on the memory of clients be in force from now on: those that hold more are
  /// slowed, refused and closed as they are when they exceed it by themselves.
  ///
  /// - Parameters:
  ///   - memoryBytes: The limit in all; see ``ServerLimits/memoryBytes``.
  ///   - perAddress: The part of one address; `nil` for a quarter.
  ///   - perIdentity: The part of one user; `nil` for a quarter.
  package func adopt(memoryBytes: Int, perAddress: Int? = nil, perIdentity: Int? = nil) async {
    await Self.adopt(memoryBytes, perAddress, perIdentity, on: server)
  }

  private static func adopt(
    _ memoryBytes: Int, _ perAddress: Int?, _ perIdentity: Int?, on server: isolated TernServer
  ) {
    server.batches.adopt(memoryBytes: memoryBytes, perAddress, perIdentity)
  }
}

package import TernCore
package import TernQuery

extension TreeSession {
  /// Reads a query's result once.
  package func read(
    at path: TreePath, query: TreeQuery,
    _ answer: @escaping @Sendable (Result<ReadAnswer, ReadError>) -> Void
  ) {
    drain()
    guard !isClosed else { return answer(.failure(.closed)) }
    do throws(TreeError) { try path.validateLength() } catch {
      return answer(.failure(.invalid(error)))
    }
    let id = machine.read(at: path, query: query)
    readers[id] = answer
    carryOut()
  }
}

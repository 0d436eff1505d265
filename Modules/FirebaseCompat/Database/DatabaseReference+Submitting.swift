import Foundation
import TernClient
import TernCore
import TernTreeReplica

extension DatabaseReference {
  /// Makes and checks a write; a fault is reported where the write's end would be.
  ///
  /// Every verb ends here, so that an invalid path or value fails alike in all of them: as an error
  /// of the completion, not as an exception.
  func write(
    _ make: () throws(DatabaseValueError) -> TreeWrite
  ) -> Result<TreeWrite, any Error> {
    if let problem { return .failure(problem) }
    do throws(DatabaseValueError) {
      let write = try make()
      try naming(path.description) { () throws(TreeError) in try write.validateForStoring() }
      return .success(write)
    } catch {
      return .failure(DatabaseError.invalid("\(error)"))
    }
  }

  /// Makes the write that replaces what is here; `nil` removes it.
  ///
  /// - Parameter priority: A string, a number or a server value; `nil` leaves the value without a
  ///   priority.
  func assignment(_ value: Any?, priority: Any? = nil) -> Result<TreeWrite, any Error> {
    write { () throws(DatabaseValueError) in
      var node = try TreeNode(foundation: value)
      if let priority = try TreeNode.priority(foundation: priority, at: path) {
        node.setPriority(priority)
      }
      return .set(path, node)
    }
  }

  /// Makes the write of the priority alone; `nil` removes it.
  func prioritization(_ priority: Any?) -> Result<TreeWrite, any Error> {
    write { () throws(DatabaseValueError) in
      let priority = try TreeNode.priority(foundation: priority, at: path)
      return .set(path.appending(.priority), priority.map { TreeNode($0) } ?? .empty)
    }
  }

  /// Makes the write of several paths below this one, which succeed or fail together.
  ///
  /// - Parameter values: Values by relative path. Overlapping paths are an error of the whole
  ///   write.
  func merge(_ values: [AnyHashable: Any]) -> Result<TreeWrite, any Error> {
    write { () throws(DatabaseValueError) in
      var entries: [TreeMerge.Entry] = []
      for (name, value) in values {
        guard let name = name as? String else {
          throw .unsupportedType("a key that is no string", path: path.description)
        }
        let place = try naming(name) { () throws(TreeError) in try TreePath(name) }
        entries.append(
          TreeMerge.Entry(path: place, node: try TreeNode(foundation: value, at: place)))
      }
      let merge = try naming(path.description) { () throws(TreeError) in try TreeMerge(entries) }
      return .merge(path, merge)
    }
  }

  /// Hands a write to the session; `block` hears how it ended, on the callback queue.
  func submit(_ write: Result<TreeWrite, any Error>, _ block: @escaping DatabaseCompletion) {
    let callback = Callback(block)
    start(write) { [self] error in
      database.call { callback(error, self) }
    }
  }

  /// Hands a write to the session and waits for the server's verdict.
  ///
  /// - Throws: An `NSError` of the database; when the task is cancelled, the wait ends and the
  ///   write stays.
  func acknowledged(_ write: Result<TreeWrite, any Error>) async throws -> DatabaseReference {
    let answer = Promise<(any Error)?>()
    start(write) { answer.resolve($0) }
    if let error = await answer.value(ifCancelled: NSError.canceledWait) { throw error }
    return self
  }

  /// Hands a write to the session, or ends it at once when it is invalid.
  ///
  /// A merge without entries ends at once, as nothing would be sent.
  private func start(
    _ write: Result<TreeWrite, any Error>, _ ended: @escaping @Sendable ((any Error)?) -> Void
  ) {
    switch write {
    case .failure(let error): ended(NSError.database(error))
    case .success(.merge(_, let merge)) where merge.entries.isEmpty: ended(nil)
    case .success(let write):
      perform(
        { session in
          session.write(write).end.then { end in
            ended(DatabaseError(end).map { NSError.database($0) })
          }
        },
        failed: { ended(NSError.database($0)) })
    }
  }

  private func naming<R>(
    _ place: String, _ body: () throws(TreeError) -> R
  ) throws(DatabaseValueError) -> R {
    do throws(TreeError) { return try body() } catch { throw .tree(error, path: place) }
  }
}

import TernCore

/// Hears once how a write ended: `nil`, or what went wrong, and where it was written.
public typealias DatabaseCompletion = ((any Error)?, DatabaseReference) -> Void

extension DatabaseReference {
  /// Replaces everything here; `nil` deletes it.
  public func setValue(_ value: Any?) {
    submit(assignment(value), ignoring)
  }

  /// The same; `block` is called when the server has answered.
  public func setValue(
    _ value: Any?, withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    submit(assignment(value), block)
  }

  /// The same; returns when the server has it.
  @discardableResult
  public func setValue(_ value: Any?) async throws -> DatabaseReference {
    try await acknowledged(assignment(value))
  }

  /// Replaces everything here and its priority.
  public func setValue(_ value: Any?, andPriority priority: Any?) {
    submit(assignment(value, priority: priority), ignoring)
  }

  /// The same; `block` is called when the server has answered.
  public func setValue(
    _ value: Any?, andPriority priority: Any?,
    withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    submit(assignment(value, priority: priority), block)
  }

  /// The same; returns when the server has it.
  @discardableResult
  public func setValue(
    _ value: Any?, andPriority priority: Any?
  ) async throws -> DatabaseReference {
    try await acknowledged(assignment(value, priority: priority))
  }

  /// Deletes everything here.
  public func removeValue() { submit(assignment(nil), ignoring) }

  /// The same; `block` is called when the server has answered.
  public func removeValue(completionBlock block: @escaping DatabaseCompletion) {
    submit(assignment(nil), block)
  }

  /// The same; returns when the server has it.
  @discardableResult
  public func removeValue() async throws -> DatabaseReference {
    try await acknowledged(assignment(nil))
  }

  /// Replaces the priority of what is here.
  public func setPriority(_ priority: Any?) {
    submit(prioritization(priority), ignoring)
  }

  /// The same; `block` is called when the server has answered.
  public func setPriority(
    _ priority: Any?, withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    submit(prioritization(priority), block)
  }

  /// The same; returns when the server has it.
  @discardableResult
  public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
    try await acknowledged(prioritization(priority))
  }

  /// Replaces what is at each of several paths below here, all or none; others stay.
  public func updateChildValues(_ values: [AnyHashable: Any]) {
    submit(merge(values), ignoring)
  }

  /// The same; `block` is called when the server has answered.
  public func updateChildValues(
    _ values: [AnyHashable: Any], withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    submit(merge(values), block)
  }

  /// The same; returns when the server has it.
  @discardableResult
  public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await acknowledged(merge(values))
  }
}

/// A completion for those who do not want to know.
func ignoring(_ error: (any Error)?, _ reference: DatabaseReference) {}

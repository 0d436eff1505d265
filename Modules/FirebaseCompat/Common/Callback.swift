/// A closure that is handed over once, to be called on one callback queue.
///
/// Firebase's signatures take closures that are not `Sendable`. That this one crosses threads is
/// sound because it is called only on the queue its database was given, one call at a time.
struct Callback<First, Second>: @unchecked Sendable {
  private let body: (First, Second) -> Void

  init(_ body: @escaping (First, Second) -> Void) { self.body = body }

  func callAsFunction(_ first: First, _ second: Second) { body(first, second) }
}

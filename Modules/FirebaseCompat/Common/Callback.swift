/// A closure that is handed over once, to be called on one callback queue.
struct Callback<First, Second>: Sendable {
  private let body: HandedOver<(First, Second) -> Void>

  init(_ body: @escaping (First, Second) -> Void) { self.body = HandedOver(body) }

  func callAsFunction(_ first: First, _ second: Second) { body.value(first, second) }
}

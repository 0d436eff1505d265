/// A value that is not `Sendable`, on its way from one thread to the next.
///
/// Firebase's signatures take closures and values that may not be shared. `@unchecked Sendable` is
/// sound because each is used by one thread at a time and not kept when it is handed on: callbacks
/// run one after the other on the callback queue of their database, update functions on the thread
/// of their transaction, and a result belongs to the thread that receives it.
struct HandedOver<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

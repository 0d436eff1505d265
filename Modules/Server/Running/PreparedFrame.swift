import TernCore
import TernSecurity
import TernTransport
import TernTreeWire

/// A large frame that was decoded away from the server's executor.
package struct PreparedFrame: Sendable {
  /// The outcome of decoding.
  enum Outcome: Sendable {
    case message(TreeClientMessage)
    case invalid(WireError)
    /// Decoding would take too much memory: now, or whenever it is tried.
    case tooMuch(request: UInt64?, isForGood: Bool)
    /// The rules deny the write, whatever its data; it was not decoded.
    case denied(request: UInt64, AccessRefusal)
  }

  /// The bytes of the frame as it arrived.
  let frameBytes: Int
  let outcome: Outcome
  /// The memory of the decoded message, charged until it is decided.
  let charge: MemoryCharge

  /// A write that the rules deny.
  init(denied refusal: AccessRefusal, request: UInt64, bytes: Int, charging charge: MemoryCharge) {
    self.charge = charge
    frameBytes = bytes
    outcome = .denied(request: request, refusal)
  }

  /// Weighs a frame, and decodes it if the budget allows. Blocks for as long as that takes.
  init(_ frame: [UInt8], charging charge: MemoryCharge) {
    self.charge = charge
    frameBytes = frame.count
    let weight = JSONWeight.bytes(frame)
    guard charge.add(weight) else {
      outcome = .tooMuch(
        request: TreeClientMessage.requestNumber(of: frame),
        isForGood: weight > charge.budget.addressBytes)
      return
    }
    do throws(WireError) { outcome = .message(try TreeClientMessage.decode(frame)) } catch {
      outcome = .invalid(error)
    }
  }
}

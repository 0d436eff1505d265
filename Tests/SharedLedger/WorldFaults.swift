import Synchronization
import TernCommitLog
import TernLogMemory
import TernTestKit

@testable import TernSharedLedger

/// The faults of one node's connection: chosen by chance, until they are healed.
final class WorldFaults: Sendable {
  private struct State {
    var chance: SeededGenerator
    var isCut = false
    var isHealed = false
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(chance: SeededGenerator(seed: seed))) }

  var isCut: Bool {
    get { state.withLock { $0.isCut } }
    set { state.withLock { $0.isCut = newValue } }
  }

  func heal() {
    state.withLock { ($0.isCut, $0.isHealed) = (false, true) }
  }

  func next(_ operation: LogOperation) -> LogFault? {
    state.withLock { state in
      if state.isCut { return .cut }
      if state.isHealed { return nil }
      // Outcomes of appends are in doubt more often than those of others; reads are late.
      let choice = state.chance.roll(operation.kind == .append ? 40 : 60)
      return switch choice {
      case 0: .cut
      case 1: .lostBefore
      case 2: .lostAfter
      case 3: .lostUnderway
      case 4..<10: .delayed(batches: UInt64(1 + state.chance.roll(3)))
      default: nil
      }
    }
  }
}

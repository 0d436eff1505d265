import TernLedger
import TernServer
import TernStorage
import TernTestKit

// The server's clocks, the maintenance of its ledger, and what must survive both.

extension SimulatedWorld {
  /// Sets the clocks of a server that starts, wrong if that is among the faults.
  ///
  /// - Returns: How far its clock for what passes is ahead of the world's, in milliseconds.
  func setServerClocks() -> Int64 {
    guard faults.contains(.wrongClock) else { return 0 }
    let years: Int64 = 10 * 365 * 86_400_000
    serverWall.jump(
      to: chance.happens(0.2) ? 0 : chance.within(-years...years),
      pace: chance.pick([1, 1, 0, -1]) ?? 1)
    trace.note("the server's clock says \(serverWall.now)")
    return chance.happens(0.5) ? -clock.now : chance.within(0...years)
  }

  /// Lets the ledger do what time brings, as a server does. A node of a cluster does so by itself.
  func maintain(_ run: ServerRun) throws(LedgerError) {
    do throws(LedgerError) { try run.ledger.maintain() } catch {
      if error != .storage(.diskFull) { throw error }
    }
    checkWriters(run.ledger)
  }

  /// Compacts the store of a server that is about to start, now and then.
  func compact(_ run: ServerRun) {
    guard chance.happens(0.2) else { return }
    trace.note("compact")
    do throws(LedgerError) { try run.ledger.compact(keepingLog: 8) } catch {
      trace.note("not compacted: \(error)")
      if error != .storage(.diskFull) { crashServer() }
    }
  }

  /// Checks that the ledger still knows the last write of every recent writer.
  func checkWriters(_ ledger: EmbeddedLedger) {
    let retention = ServerRun.ledgerOptions.streamLifetime.components.seconds * 1_000
    let writers = model.writers.filter { clock.now - $0.value.time < retention }
    do throws(LedgerError) {
      let forgotten = try ledger.read { snapshot throws(StorageError) in
        var forgotten: [CommitID] = []
        for (stream, writer) in writers.sorted(by: { $0.key < $1.key }) {
          let state = try snapshot.stream(stream)
          if state?.last ?? 0 < writer.sequence {
            forgotten.append(CommitID(stream: stream, sequence: writer.sequence))
          }
        }
        return forgotten
      }
      for id in forgotten { disagree("the server has forgotten \(id)") }
    } catch {
      trace.note("the streams cannot be read: \(error)")
    }
  }

  /// The planted bug: the first search for silent writers goes by the time of day.
  func forgetWriters(in store: FaultyStore) throws(LedgerError) {
    let silence = serverWall.now - lastServerTime
    lastServerTime = serverWall.now
    guard silence > 60 * 86_400_000 else { return }
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        // Source: Docs/Formats/ledger.md, the rows of streams.
        try transaction.remove(in: KeyRange(prefix: [0x02]))
      }
    } catch { throw .storage(error) }
  }
}

import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Judges targets again: when their rules change, what their permission rests on, or what they are
/// told.
///
/// A permission is reviewed in three situations. When documents that it rests on change,
/// ``endDependents(on:_:_:)`` judges exactly the targets concerned. When a query's rules name no
/// dependencies, ``endDenied(_:_:_:)`` judges it before each change it would be told. When rules
/// change, ``review(_:_:)`` judges all targets of a call.
struct ListenReview {
  let listens: DocumentListens

  private var judge: DocumentJudge { listens.judge }
  private var registry: DatabaseRegistry { listens.registry }

  /// The targets that one verdict is about: those of one requester with one subject.
  ///
  /// Clients of one user often watch the same subject; they share a verdict within one commit.
  private struct Question: Hashable {
    let requester: Requester
    let subject: WatchTarget.Subject
  }

  /// Ends the targets whose permission rested on documents that have changed, and is gone with
  /// them; to be called before the change is told.
  ///
  /// Each distinct verdict costs a step of the batch. A target whose judgment meets corrupt rows
  /// ends.
  func endDependents(
    on changed: [DocumentKey], _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    var verdicts: [Question: DocumentVerdict] = [:]
    for subscriber in database.dependencies.concerned(by: changed) {
      guard let call = registry.streams[subscriber.stream],
        let subject = database.watch.subject(of: subscriber.target, on: subscriber.stream)
      else { continue }
      let question = Question(requester: call.requester(in: database), subject: subject)
      do throws(StorageError) {
        let verdict: DocumentVerdict
        if let known = verdicts[question] {
          verdict = known
        } else {
          verdict = try listens.verdict(on: subject, question.requester, database, batch)
          batch.spend(1)
        }
        verdicts[question] = verdict
        adopt(verdict, subscriber, call, database, &batch)
      } catch {
        end(subscriber, try DocumentStatus(damage: error), call, database, &batch)
      }
    }
  }

  /// Ends the targets of requesters who may not have what a commit would tell them.
  ///
  /// Each requester is judged once, however many targets they have.
  ///
  /// - Parameter delivery: The changes of one group. For documents, the changes are judged as reads
  ///   of the new contents.
  func endDenied(
    _ delivery: WatchDelivery, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let accesses = accesses(delivery, database)
    if accesses.isEmpty { return }
    for asker in listens.addresses(of: delivery.group).askers {
      let requester = asker.requester(in: database)
      let outcome: Result<DocumentVerdict, DocumentStatus>
      do throws(StorageError) {
        outcome = .success(try judge.verdict(on: accesses, requester, database, batch))
      } catch {
        outcome = .failure(try DocumentStatus(damage: error))
      }
      for subscriber in asker.subscribers {
        guard let call = registry.streams[subscriber.stream] else { continue }
        switch outcome {
        case .failure(let status): end(subscriber, status, call, database, &batch)
        case .success(let verdict):
          try extend(verdict, subscriber, delivery.group.subject, call, database, &batch)
        }
      }
    }
  }

  /// Returns the accesses of a message's recipients; none for a message that ends a listen, and for
  /// a query whose permission stands until what it rests on changes.
  ///
  /// Until the review after a change of rules is complete, every delivery is judged, also for
  /// queries whose permission was settled.
  private func accesses(_ delivery: WatchDelivery, _ database: OpenDatabase) -> [DocumentAccess] {
    switch delivery.group.subject {
    case .query(let target):
      let isSettled = registry.isReviewed && judge.authorizer(of: database).namesDependencies
      return delivery.isLast || isSettled ? [] : [.list(DocumentQuery(target))]
    case .documents:
      return delivery.changes.compactMap { change in
        switch change {
        case .changed(let document, _, _): .get(document)
        case .deleted(let key, _, _), .removed(let key, _, _): .get(Document(key, .missing))
        case .target, .filter: nil
        }
      }
    }
  }

  /// Judges the targets of a call again; those that are denied now end.
  ///
  /// - Returns: The number of targets.
  func review(_ call: DocumentCall, _ batch: inout ServerBatch) throws(StorageError) -> Int {
    guard let stream = call.stream, let database = call.database else { return 0 }
    let targets = database.watch.targets(of: stream)
    let requester = call.requester(in: database)
    for (target, subject) in targets.sorted(by: { $0.key < $1.key }) {
      let subscriber = WatchSubscriber(stream: stream, target: target)
      do throws(StorageError) {
        let verdict = try listens.verdict(on: subject, requester, database, batch)
        adopt(verdict, subscriber, call, database, &batch)
      } catch {
        end(subscriber, try DocumentStatus(damage: error), call, database, &batch)
      }
    }
    return targets.count
  }

  /// Notes what the permission of a target rests on, or ends the target.
  private func adopt(
    _ verdict: DocumentVerdict, _ subscriber: WatchSubscriber, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) {
    if let refusal = verdict.refusal {
      return end(subscriber, DocumentStatus(denial: refusal), call, database, &batch)
    }
    database.dependencies.set(verdict.dependencies ?? [], of: subscriber)
  }

  /// Adds what the permission of a target to see some documents rests on, or ends the target.
  ///
  /// Dependencies only grow here. Beyond ``ListenDependencies/keysKept`` the target is judged as a
  /// whole, which replaces them by those it has now.
  private func extend(
    _ verdict: DocumentVerdict, _ subscriber: WatchSubscriber, _ subject: WatchTarget.Subject,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let more = verdict.dependencies, verdict.isAllowed else {
      if !verdict.isAllowed { adopt(verdict, subscriber, call, database, &batch) }
      return
    }
    if more.isEmpty { return }
    let count = database.dependencies.add(more, to: subscriber)
    guard count > ListenDependencies.keysKept else { return }
    let whole = try listens.verdict(on: subject, call.requester(in: database), database, batch)
    adopt(whole, subscriber, call, database, &batch)
  }

  private func end(
    _ subscriber: WatchSubscriber, _ status: DocumentStatus, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) {
    database.unlisten(subscriber.target, on: subscriber.stream)
    listens.refuse(subscriber.target, status, call, &batch)
  }
}

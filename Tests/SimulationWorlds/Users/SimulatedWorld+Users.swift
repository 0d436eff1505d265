import TernClient
import TernStorage
import TernSync

// Devices change hands, and tokens end.

/// One of the queues of a device.
struct QueueName: Hashable {
  let device: String
  let user: QueueUser
}

extension SimulatedWorld {
  /// Changes a device's user, signs the user out, or renews the token.
  func changeHands(_ process: any ClientProcess) {
    let device = process.device
    let user = chance.pick(WorkloadUsers.all) ?? .nobody
    guard user != device.user || chance.happens(0.3) else { return }
    signIn(user, on: device)
  }

  /// Signs a user in on a device.
  func signIn(_ user: QueueUser, on device: SimulatedDevice) {
    trace.note("\(device.name) is used by \(user.id.isEmpty ? "nobody" : user.id)")
    device.user = user
    showToken(on: device)
  }

  /// Another token takes the place of one that does not count any more.
  func tokenArrives(on device: SimulatedDevice, inPlaceOf token: String) {
    guard device.token == token else { return }
    trace.note("\(device.name) has another token of \(device.user.id)")
    showToken(on: device)
  }

  /// The server does not take what a device shows: its program gets another token, sooner or later.
  func refused(_ token: String, on device: SimulatedDevice) {
    guard device.token == token else { return disagree("\(device.name) shows an old token") }
    if !tokensEnd(of: device.user) { disagree("\(device.name) shows what does not count") }
    let isLate = !isHealed && chance.happens(0.2)
    plan(
      .tokenArrives(device, inPlaceOf: token), after: isLate ? 5_000...60_000 : 50...2_000)
  }

  /// Returns `true` if the server may take a user's tokens no longer.
  func tokensEnd(of user: QueueUser) -> Bool {
    faults.contains(.expiredToken) || revokedUsers.contains(user)
  }

  private func showToken(on device: SimulatedDevice) {
    device.token = newToken(of: device.user)
    switch device.process {
    case let run as ClientRun: showToken(run)
    case let run as DocumentRun: showToken(run)
    default: return
    }
    if let process = device.process { carryOut(process) }
  }

  private func newToken(of user: QueueUser) -> String? {
    if user == .nobody { return nil }
    lastToken += 1
    var expires: Int64?
    if faults.contains(.expiredToken), !isHealed {
      let wall = cluster?.serving.last?.node.wall ?? serverWall
      expires = wall.now / 1_000 + chance.within(5...120)
    }
    return WorkloadTokens.token(of: user, expires: expires, number: lastToken)
  }

  // MARK: Queues

  /// Opens the queue of a device's user; without disk space the program restarts later.
  func openFirstQueue(_ shelf: WriteQueueRegistry, of device: SimulatedDevice) -> OpenedQueue? {
    do throws(QueueError) {
      let opened = try shelf.openFirst(device.user)
      if !opened.setAside.isEmpty { disagree("\(device.name) cannot read what it has queued") }
      return opened
    } catch {
      if error != .storage(.diskFull) { disagree("\(device.name) does not start: \(error)") }
      plan(.clientStarts(device), after: 0...2_000)
      return nil
    }
  }

  /// Opens the queue of another user of a device; `nil` when it is open.
  func openQueue(
    of user: QueueUser, _ run: any ClientProcess
  ) -> Result<OpenedQueue, QueueError>? {
    do throws(QueueError) { return try run.shelf.open(user).map { .success($0) } } catch {
      return .failure(error)
    }
  }

  /// The queue of a user cannot be used until it is opened again.
  func refuseQueue(of user: QueueUser, because error: QueueError, _ run: any ClientProcess) {
    trace.note("\(run.name) has no queue of \(user.id): \(error)")
    if error != .storage(.diskFull) { disagree("\(run.name) cannot use a queue: \(error)") }
    run.shelf.refuse(user, error)
  }

  // MARK: The end

  /// Lets the next user use each device, so that the writes of all users are sent in the end.
  ///
  /// - Returns: `false` when every user has had a turn.
  func visitNextUsers() -> Bool {
    guard visits < WorkloadUsers.all.count else { return false }
    visits += 1
    for device in devices {
      let index = WorkloadUsers.all.firstIndex(of: device.user) ?? 0
      signIn(WorkloadUsers.all[(index + 1) % WorkloadUsers.all.count], on: device)
    }
    return true
  }
}

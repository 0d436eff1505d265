import TernStorage

extension QueueError: CustomStringConvertible {
  /// The failure and its remedy, for the messages of a program.
  public var description: String {
    switch self {
    case .queueFull(let limit): "\(limit) writes wait already; let some be sent first"
    case .queueBytesFull(let limit): "\(limit) bytes wait already; let some be sent first"
    case .writeTooLarge(let bytes, let limit):
      "a write of \(bytes) bytes; the limit is \(limit), so split it"
    case .tooManyUsers(let limit):
      "\(limit) users have writes waiting; let one of them send theirs first"
    case .userTooLong(let bytes, let limit):
      "the user's id has \(bytes) bytes; the limit is \(limit)"
    case .noSuchWrite(let id): "no such write: \(id)"
    case .damaged(let id):
      "the write \(id) is damaged; restore the folder, or see: tern pending salvage"
    case .damagedHeader:
      "its own record is damaged; restore the folder, or see: tern pending salvage"
    case .unreadable(let reason): "the queue cannot be read: \(reason)"
    case .storage(let error) where error.isCorruption:
      "\(error), or see: tern pending salvage"
    case .storage(let error): error.description
    }
  }
}

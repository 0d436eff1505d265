import TernLedger
import TernStorage
import TernSync

extension StorageError {
  /// What happened and what to do, for whoever reads the message of a program.
  package var text: String {
    switch self {
    case .keyTooLong(let bytes): "a key of \(bytes) bytes is too long"
    case .valueTooLong(let bytes): "a value of \(bytes) bytes is too long"
    case .corruptRecord(let key): "the record under \(key) is damaged; restore the folder"
    case .corruptStore(let reason): "the files are damaged or not ours: \(reason)"
    case .newerFormat(let found, let supported):
      "the files have format \(found), this program reads up to \(supported); upgrade it"
    case .inUse: "another program has the folder open"
    case .readOnly: "the folder may not be written; check its permissions"
    case .cannotOpen(_, let code): "the folder cannot be made or entered (errno \(code))"
    case .diskFull: "the disk is full; free some space"
    case .tooManyReaders(let limit): "more than \(limit) readers at once"
    case .syncFailed(let code): "the disk failed (\(code)); open the folder again and look"
    case .failed: "the disk failed before; open the folder again"
    case .closed: "the store was closed"
    case .abandoned: "the change was given up"
    case .backend(let operation, let code): "\(operation) failed with \(code)"
    }
  }
}

extension QueueError {
  /// What happened and what to do, for whoever reads the message of a program.
  package var text: String {
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
    case .storage(let error): error.text
    }
  }
}

extension LedgerError {
  /// What happened and what to do, for whoever reads the message of a program.
  package var text: String {
    switch self {
    case .storage(let error): error.text
    case .truncated(let first): "the log begins at \(first)"
    case .foreignStore: "the folder holds something else; choose another one"
    case .newerFormat(let found, let supported):
      "the data has format \(found), this program reads up to \(supported); upgrade it"
    case .corrupt(let key): "the row under \(key) makes no sense; restore the folder"
    }
  }
}

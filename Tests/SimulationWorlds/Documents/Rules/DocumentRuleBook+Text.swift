// The rules of a book as an operator writes them.

extension DocumentRuleBook {
  /// The text of the rules.
  var text: String {
    """
    rules_version = '2';
    function signedIn() { return request.auth != null; }
    function owns(data) { return signedIn() && data.owner == request.auth.uid; }
    service cloud.firestore {
      match /databases/{database}/documents {
        function rolePath() {
          return /databases/$(database)/documents/roles/$(request.auth.uid);
        }
    \(itemsText)
    \(notesText)
    \(postsText)
        match /rooms/{room} {
          allow read, write: if true;
        }
    \(roomsText)
    \(pairText)
        match /{path=**}/parts/{part} { allow read, write: if true; }
        match /{open}/{document} {
          allow read, write: if open in ['roles', 'counters', 'other'];
          allow get, write: if open == 'secret';
          allow read: if open == 'locked';
          allow read, write: if open in ['ann', 'bob'] && open == request.auth.uid;
        }
      }
    }

    """
  }

  private var itemsText: String {
    switch items {
    case .open: "    match /items/{item} { allow read, write; }"
    case .signedIn: "    match /items/{item} { allow read: if signedIn(); allow write; }"
    case .checked:
      """
          match /items/{item} {
            allow read, delete: if true;
            allow create, update: if !('n' in request.resource.data)
              || request.resource.data.n is int && request.resource.data.n < 10;
          }
      """
    }
  }

  private var notesText: String {
    switch notes {
    case .owned:
      """
          match /notes/{note} {
            allow read: if owns(resource.data) || resource.data.isPublic == true;
            allow create: if owns(request.resource.data);
            allow update: if owns(resource.data)
              && request.resource.data.owner == resource.data.owner;
            allow delete: if owns(resource.data);
          }
      """
    case .published:
      """
          match /notes/{note} {
            allow read: if 'isPublic' in resource.data && resource.data.isPublic
              || get(rolePath()).data.isEditor;
            allow write: if signedIn();
          }
      """
    case .closed:
      """
          match /notes/{note} {
            allow get: if resource == null || owns(resource.data);
            allow create: if owns(request.resource.data)
              && request.resource.data.keys().hasOnly(
                ['owner', 'isPublic', 'n', 's', 'list', 'more']);
          }
      """
    }
  }

  private var postsText: String {
    switch posts {
    case .byRole:
      """
          match /posts/{post} {
            allow read: if exists(rolePath());
            allow write: if get(rolePath()).data.isEditor == true;
          }
      """
    case .byLevel:
      """
          match /posts/{post} {
            allow get: if get(rolePath()).data.level >= 2;
            allow list: if request.query.limit <= 3 && signedIn();
            allow write: if getAfter(rolePath()).data.level > 0;
          }
      """
    }
  }

  private var roomsText: String {
    switch rooms {
    case .byRoom:
      """
          match /rooms/{room}/messages/{message} {
            function here() { return get(/databases/$(database)/documents/rooms/$(room)).data; }
            allow read, create: if here().isOpen == true || request.auth.uid in here().members;
          }
      """
    case .anywhere:
      """
          match /{path=**}/messages/{message} {
            allow read: if true;
            allow write: if existsAfter(/databases/$(database)/documents/rooms/r1);
          }
      """
    }
  }

  private var pairText: String {
    let other = "getAfter(/databases/$(database)/documents/pair/"
    return switch pair {
    case .open: "    match /pair/{half} { allow read, write: if true; }"
    case .alike:
      """
          match /pair/{half} {
            allow read: if true;
            allow write: if \(other)a).data == \(other)b).data;
          }
      """
    }
  }
}

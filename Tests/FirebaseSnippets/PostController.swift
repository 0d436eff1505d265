// The code that Firebase's guide prints, word for word. Nothing but Firebase's modules is imported.
// swift-format-ignore-file

import FirebaseAuth
import FirebaseDatabase

/// The app's own user, which Firebase's is not mixed up with.
public struct User {
  public var username: String
}

/// The guide's printed code about reading and writing, in place of its view controller.
public final class PostController {
  var ref: DatabaseReference!
  var refHandle: DatabaseHandle = 0
  public private(set) var users: [User] = []

  public init() {
    ref = Database.database().reference()
  }

  public func saveUser(_ user: FirebaseAuth.User, withUsername username: String) {
    self.ref.child("users").child(user.uid).setValue(["username": username])
  }

  public func saveName(_ user: FirebaseAuth.User, withUsername username: String) {
    self.ref.child("users/\(user.uid)/username").setValue(username)
  }

  public func observe(_ postRef: DatabaseReference, _ seen: @escaping (Any?) -> Void) {
    refHandle = postRef.observe(DataEventType.value, with: { snapshot in
      // ...
      seen(snapshot.value)
    })
  }

  public func readName(_ uid: String) async -> String? {
    do {
      let snapshot = try await ref.child("users/\(uid)/username").getData()
      let userName = snapshot.value as? String ?? "Unknown"
      return userName
    } catch {
      print(error)
    }
    return nil
  }

  public func readOnce(_ done: @escaping (User) -> Void) {
    let userID = Auth.auth().currentUser?.uid
    ref.child("users").child(userID!).observeSingleEvent(of: .value, with: { snapshot in
      // Get user value
      let value = snapshot.value as? NSDictionary
      let username = value?["username"] as? String ?? ""
      let user = User(username: username)

      // ...
      done(user)
    }) { error in
      print(error.localizedDescription)
    }
  }

  public func writeNewPost(
    withUserID userID: String, username: String, title: String, body: String
  ) -> String? {
    guard let key = ref.child("posts").childByAutoId().key else { return nil }
    let post = ["uid": userID,
                "author": username,
                "title": title,
                "body": body]
    let childUpdates = ["/posts/\(key)": post,
                        "/user-posts/\(userID)/\(key)/": post]
    ref.updateChildValues(childUpdates)
    return key
  }

  public func save(_ user: FirebaseAuth.User, username: String) async {
    do {
      try await ref.child("users").child(user.uid).setValue(["username": username])
      print("Data saved successfully!")
    } catch {
      print("Data could not be saved: \(error).")
    }
  }

  public func star(_ ref: DatabaseReference, _ done: @escaping (Bool) -> Void) {
    ref.runTransactionBlock({ (currentData: MutableData) -> TransactionResult in
      if var post = currentData.value as? [String: AnyObject],
        let uid = Auth.auth().currentUser?.uid {
        var stars: [String: Bool]
        stars = post["stars"] as? [String: Bool] ?? [:]
        var starCount = post["starCount"] as? Int ?? 0
        if let _ = stars[uid] {
          // Unstar the post and remove self from stars
          starCount -= 1
          stars.removeValue(forKey: uid)
        } else {
          // Star the post and add self to stars
          starCount += 1
          stars[uid] = true
        }
        post["starCount"] = starCount as AnyObject?
        post["stars"] = stars as AnyObject?

        // Set value and report transaction success
        currentData.value = post

        return TransactionResult.success(withValue: currentData)
      }
      return TransactionResult.success(withValue: currentData)
    }) { error, committed, snapshot in
      if let error = error {
        print(error.localizedDescription)
      }
      done(committed)
    }
  }

  public func addStar(_ postID: String, _ userID: String) {
    let updates = [
      "posts/\(postID)/stars/\(userID)": true,
      "posts/\(postID)/starCount": ServerValue.increment(1),
      "user-posts/\(postID)/stars/\(userID)": true,
      "user-posts/\(postID)/starCount": ServerValue.increment(1)
    ] as [String : Any]
    Database.database().reference().updateChildValues(updates)
  }
}

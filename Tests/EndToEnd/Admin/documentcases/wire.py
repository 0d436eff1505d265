"""What the client library does not say by itself."""

import base64
import json
import queue
import sys
import threading

import grpc
from google.api_core import exceptions
from google.cloud.firestore_v1.types import firestore as messages

from documentcases.client import PROJECT, client, doc, fill, stub
from playing import case, raises, same


@case
def the_owner_is_recognised():
    owner = [("authorization", "Bearer owner")]
    name = doc()._document_path
    doc().set({"x": 1})
    same(stub().get_document(request={"name": name}, metadata=owner).name, name)


@case
def a_users_token_is_taken():
    def part(value):
        text = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
        return text.rstrip("=")

    user = {"sub": "ann", "user_id": "ann", "iat": 0, "aud": PROJECT}
    token = part({"alg": "none"}) + "." + part(user) + "."
    doc().set({"x": 1})
    metadata = [("authorization", "Bearer " + token)]
    found = stub().get_document(request={"name": doc()._document_path}, metadata=metadata)
    same(found.name, doc()._document_path)


@case
def an_invalid_token_is_refused():
    raises(
        exceptions.Unauthenticated,
        stub().get_document,
        request={"name": doc()._document_path},
        metadata=[("authorization", "Bearer nonsense")],
    )


@case
def the_code_of_a_missing_document():
    request = {"name": doc("ä")._document_path}
    error = raises(exceptions.NotFound, stub().get_document, request=request)
    assert "ä" in error.message, error.message


@case
def an_unknown_method_is_unimplemented():
    channel = grpc.insecure_channel(sys.argv[1])
    call = channel.unary_unary("/google.firestore.v1.Firestore/Fly")
    error = raises(grpc.RpcError, call, b"")
    same(error.code(), grpc.StatusCode.UNIMPLEMENTED)
    same(error.details(), "Method google.firestore.v1.Firestore/Fly is unimplemented")


@case
def a_deadline_that_has_passed():
    channel = grpc.insecure_channel(sys.argv[1])
    call = channel.stream_stream("/google.firestore.v1.Firestore/Listen")
    answers = call(iter_forever(), timeout=0.3)
    error = raises(grpc.RpcError, lambda: list(answers))
    same(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


def iter_forever():
    threading.Event().wait(2)
    yield from ()


@case
def compressed_messages():
    text = "x" * 200_000
    doc().set({"text": text})
    name = doc()._document_path
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        channel = grpc.insecure_channel(sys.argv[1], compression=compression)
        call = channel.unary_unary("/google.firestore.v1.Firestore/GetDocument")
        request = messages.GetDocumentRequest.pb(messages.GetDocumentRequest(name=name))
        answer = call(
            request.SerializeToString(), metadata=[("authorization", "Bearer owner")]
        )
        assert text.encode() in answer


@case
def a_write_stream():
    transport = stub()
    requests = queue.Queue()
    requests.put(messages.WriteRequest(database=client._database_string))
    answers = transport.write(requests=iter(requests.get, None))
    first = next(iter(answers))
    assert first.stream_token
    write = {"update": {"name": doc()._document_path, "fields": {"x": {"integer_value": 7}}}}
    requests.put(messages.WriteRequest(stream_token=first.stream_token, writes=[write]))
    second = next(iter(answers))
    same(len(second.write_results), 1)
    requests.put(None)
    same(list(answers), [])
    same(doc().get().get("x"), 7)


@case
def many_calls_at_once():
    fill(3)
    found = []

    def work():
        for _ in range(20):
            found.append(doc("d1").get().get("n"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(found, [1] * 160)

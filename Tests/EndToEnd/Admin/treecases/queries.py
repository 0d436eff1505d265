"""Queries."""

from playing import case, same
from treecases.client import ref


DINOSAURS = {
    "bruhathkayosaurus": {"height": 25, "order": "saurischia", "dims": {"weight": 139000}},
    "lambeosaurus": {"height": 2.1, "order": "ornithischia", "dims": {"weight": 3500}},
    "linhenykus": {"height": 0.6, "order": "theropoda", "dims": {"weight": 3}},
    "pterodactyl": {"height": 0.6, "order": "pterosauria", "dims": {"weight": 2}},
    "stegosaurus": {"height": 4, "order": "ornithischia", "dims": {"weight": 2500}},
    "triceratops": {"height": 3, "order": "ornithischia", "dims": {"weight": 11000}},
}


def dinosaurs():
    ref().set(DINOSAURS)
    return ref()


def keys(result):
    return list(result.keys())


@case
def order_by_child():
    same(
        keys(dinosaurs().order_by_child("height").get()),
        ["linhenykus", "pterodactyl", "lambeosaurus", "triceratops", "stegosaurus",
         "bruhathkayosaurus"])


@case
def order_by_a_deep_child():
    found = dinosaurs().order_by_child("dims/weight").limit_to_last(2).get()
    same(keys(found), ["triceratops", "bruhathkayosaurus"])


@case
def order_by_key():
    same(keys(dinosaurs().order_by_key().limit_to_first(2).get()),
         ["bruhathkayosaurus", "lambeosaurus"])
    same(keys(dinosaurs().order_by_key().limit_to_last(1).get()), ["triceratops"])


@case
def order_by_key_in_a_range():
    found = dinosaurs().order_by_key().start_at("l").end_at("m").get()
    same(keys(found), ["lambeosaurus", "linhenykus"])


@case
def order_by_value():
    ref().set({"ann": 3, "bob": 1, "cid": 2, "dan": "text", "eve": True})
    same(keys(ref().order_by_value().get()), ["eve", "bob", "cid", "ann", "dan"])
    same(dict(ref().order_by_value().limit_to_last(2).get()), {"ann": 3, "dan": "text"})


@case
def order_by_value_in_a_range():
    ref().set({"ann": 3, "bob": 1, "cid": 2})
    same(keys(ref().order_by_value().start_at(2).get()), ["cid", "ann"])
    same(keys(ref().order_by_value().end_at(1).get()), ["bob"])


@case
def range_of_a_child():
    found = dinosaurs().order_by_child("height").start_at(2).end_at(3).get()
    same(keys(found), ["lambeosaurus", "triceratops"])


@case
def equal_to_a_child():
    found = dinosaurs().order_by_child("order").equal_to("ornithischia").get()
    same(keys(found), ["lambeosaurus", "stegosaurus", "triceratops"])


@case
def equal_to_and_a_limit():
    found = dinosaurs().order_by_child("order").equal_to("ornithischia").limit_to_last(1).get()
    same(keys(found), ["triceratops"])


@case
def a_query_without_result():
    result = dinosaurs().order_by_child("height").start_at(1000).get()
    assert not result, result


@case
def a_query_over_nothing():
    assert not ref().order_by_key().get()


@case
def a_query_for_text_with_odd_characters():
    ref().set({"a": {"name": "Jürgen \"Söhne\" = 100"}, "b": {"name": "x"}})
    found = ref().order_by_child("name").equal_to("Jürgen \"Söhne\" = 100").get()
    same(keys(found) if found else found, ["a"])


@case
def a_query_over_a_leaf():
    ref().set("leaf")
    assert not ref().order_by_key().limit_to_first(1).get()

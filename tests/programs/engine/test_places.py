"""Places of items are kept on disk: found again in any order, the last of an item counting."""

import random

from nuggetjudge.programs.engine.places import CHUNK, Places


def test_places_are_found_again_whatever_order_they_came_in():
    numbers = list(range(5, 3 * CHUNK, 3))
    random.Random(411).shuffle(numbers)
    places = Places()
    for number in numbers:
        places.note(number, number * 85)
    for number in range(4 * CHUNK):
        known = number in range(5, 3 * CHUNK, 3)
        assert places.find(number) == (number * 85 if known else None)
    places.close()


def test_the_last_place_of_an_item_counts_also_when_it_was_read_before():
    places = Places()
    for number in range(2 * CHUNK):
        places.note(number, number)
    assert places.find(0) == 0
    assert places.find(CHUNK) == CHUNK
    places.note(0, 7)
    assert places.find(0) == 7
    for number in range(CHUNK, 2 * CHUNK):
        places.note(number, 0)
    assert places.find(CHUNK) == 0
    assert places.find(0) == 7
    places.close()

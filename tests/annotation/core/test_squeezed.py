from annotation.core.squeezed import Squeezed, same_words
from hypothesis import given
from hypothesis import strategies as st


def test_a_stretch_is_compared_without_white_space() -> None:
    text = Squeezed.of("One two\nthree.")
    assert text.has("two three", 4, 13)
    assert text.has("twothree", 3, 13)
    assert not text.has("two", 4, 13)
    assert not text.has("", 4, 4)
    assert not text.has("One", -1, 3)


def test_the_nearest_place_is_found() -> None:
    text = Squeezed.of("a b. a  b. a b.")
    assert text.find("a b", 0) == (0, 3)
    assert text.find("ab", 6) == (5, 9)
    assert text.find("a b", 99) == (11, 14)
    assert text.find("c", 0) is None
    assert text.find(" ", 0) is None


def test_places_move_to_another_spacing() -> None:
    here, there = Squeezed.of("One two. Three."), Squeezed.of("One  two.\nThree.")
    assert here.moved((4, 8), there) == (5, 9)
    assert here.moved((3, 4), there) is None


def test_white_space_alone_is_no_difference() -> None:
    assert same_words("a b", "ab\n")
    assert not same_words("a b", "a c")


@given(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=1, max_size=8), st.data())
def test_moving_keeps_the_words(words: list[str], data: st.DataObject) -> None:
    one, other = " ".join(words), "\n ".join(words)
    start = data.draw(st.integers(0, len(one)))
    end = data.draw(st.integers(start, len(one)))
    moved = Squeezed.of(one).moved((start, end), Squeezed.of(other))
    expected = "".join(one[start:end].split())
    assert expected == ("" if moved is None else "".join(other[moved[0] : moved[1]].split()))

from tests.columns import LONGEST_FUNCTION, long_functions


def test_a_function_that_is_too_long_is_named_and_decorators_are_not_counted() -> None:
    fits = "@first\n@second\ndef fits():\n" + "    pass\n" * (LONGEST_FUNCTION - 1)
    too_long = "class Holder:\n    async def too_long(self):\n" + "        pass\n" * LONGEST_FUNCTION
    assert list(long_functions(too_long + fits)) == [(2, "too_long", LONGEST_FUNCTION + 1)]

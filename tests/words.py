"""Lists of words in few lines."""


def words(text: str) -> list[str]:
    return text.split()

"""Russian words: their stems, their beginnings, and their letters in Latin."""

from __future__ import annotations

_WRITTEN = """
    иями ями ами ием иях ях ах ого его ому ему ыми ими ешь ишь ете ите ются ится ется уется ает яет ают яют ует уют
    ать ять ить еть ов ев ей ой ый ий ая яя ое ее ые ие ую юю ом ем ам ям ию ью ия ья ть ет ит ут ют ат ят ил ал ел
    ла ло ли ен на но ны а я о е ы и у ю ь й
"""
ENDINGS = tuple(sorted(_WRITTEN.split(), key=len, reverse=True))
"""Longer ones first, as they are tried in this order."""
_MAY_FOLLOW = frozenset(("", "к", "ка", "ки", "ку", "кой", "ный", "ная", "ное", "ные", "ного", "ной", *ENDINGS))
_SHORTEST = 3
_SHORT = 4
_LATIN = dict(zip("абвгдезийклмнопрстуфхцыэю", "abvgdeziiklmnoprstufhcyeu", strict=True)) | {
    "ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "я": "ya", "ъ": "", "ь": "",
}  # fmt: skip


def russian_stem(word: str) -> str:
    """The word without its ending."""
    word = word.lower().replace("ё", "е").removesuffix("ся").removesuffix("сь")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word


def begins(word: str, beginning: str) -> bool:
    """Whether a word has this beginning. After a short one only an ending may follow."""
    if not word.startswith(beginning):
        return False
    return len(beginning) > _SHORT or word[len(beginning) :] in _MAY_FOLLOW


def in_latin(word: str) -> str:
    """A word in Latin letters: many are English ones in Russian letters (`парсер`, `патч`)."""
    return "".join(_LATIN.get(letter, letter) for letter in word)

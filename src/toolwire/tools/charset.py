"""Which legacy encoding a text is in that has no byte-order mark and is not UTF-8.

Source files are mostly ASCII with a few words in comments: too little for general detectors, which take two Chinese
words for Korean. So the likely ones are judged first by what their texts are made of, and a library decides the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

SAMPLE = 4000
"""Non-ASCII characters or runs that are looked at."""
LIBRARY_SAMPLE = 256 * 1024
"""Bytes the library is given: it is thorough, and slow."""
ANY_BYTES = "latin-1"
"""Text of an encoding nobody can tell: every byte is a character, so that the ASCII in it can be read and edited."""
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x19\x1c-\x1f\x7f]")
_RUN = re.compile(rb"[\x80-\xff]+")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]+")
_COMMON_CYRILLIC = frozenset("оеаинтсрвл")
_WESTERN = frozenset("àâäáãåçéèêëíîïñóôöõøúùûüßæœÀÂÄÁÃÅÇÉÈÊËÍÎÏÑÓÔÖÕØÚÙÛÜÆŒ¿¡«»°§·–—‘’“”…€£©®´µ²³½¼\xa0")
_OTHERS = ("shift_jis", "euc_jp", "big5", "euc_kr", "cp1250", "cp1252", "koi8_r", "cp866", "cp1251", "gb18030")


def candidates(data: bytes) -> Iterator[str]:
    """Encodings to try, the likeliest first. None for bytes that are no text."""
    if _CONTROLS.search(data):
        return
    for guess in (_chinese, _cyrillic, _western):
        found = guess(data)
        if found is not None:
            yield found
    yield from _by_library(data)
    yield ANY_BYTES


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _chinese(data: bytes) -> str | None:
    """GB18030: most characters are of the first, commonest level of GB 2312 (lead bytes B0 to D7)."""
    text = _decoded(data, "gb18030")
    if text is None:
        return None
    codes = [match[0].encode("gb18030") for match in islice(_FOREIGN.finditer(text), SAMPLE)]
    plain = [code for code in codes if len(code) == 2 and code[1] >= 0xA1]
    leads = [code[0] for code in plain]
    signs = sum(0xA1 <= lead <= 0xA3 for lead in leads)
    kana = sum(lead in (0xA4, 0xA5) for lead in leads)
    level_one = sum(0xB0 <= lead <= 0xD7 for lead in leads)
    beyond_korean = sum(lead > 0xC8 for lead in leads)
    korean = level_one >= 10 and beyond_korean * 20 < level_one
    if korean or kana * 5 >= len(codes) or len(plain) < 0.85 * len(codes):
        return None
    return "gb18030" if level_one >= 0.7 * (len(codes) - signs) else None


def _cyrillic(data: bytes) -> str | None:
    """Of the Cyrillic encodings the one in which the commonest letters are common and capitals begin words."""
    scores = {encoding: _cyrillic_score(data, encoding) for encoding in ("cp1251", "koi8_r", "cp866")}
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] >= 0.4 else None


def _cyrillic_score(data: bytes, encoding: str) -> float:
    text = _decoded(data, encoding)
    if text is None:
        return 0.0
    words = [match[0] for match in islice(_CYRILLIC.finditer(text), SAMPLE)]
    letters = sum(map(len, words))
    foreign = sum(1 for _ in islice(_FOREIGN.finditer(text), letters * 2 + 1))
    if not letters or letters < 0.8 * foreign or letters < 2 * len(words):
        return 0.0
    common = sum(letter in _COMMON_CYRILLIC for word in words for letter in word.lower())
    odd_capitals = sum(a.islower() and b.isupper() for word in words for a, b in pairwise(word))
    return (common - 2 * odd_capitals) / letters


def _western(data: bytes) -> str | None:
    """Windows-1252: single accented letters among ASCII ones."""
    text = _decoded(data, "cp1252")
    runs = [len(match[0]) for match in islice(_RUN.finditer(data), SAMPLE)]
    if text is None or sum(runs) > 1.5 * len(runs):
        return None
    foreign = [match[0] for match in islice(_FOREIGN.finditer(text), SAMPLE)]
    return "cp1252" if sum(char in _WESTERN for char in foreign) >= 0.95 * len(foreign) else None


def _by_library(data: bytes) -> Iterator[str]:
    from charset_normalizer import from_bytes

    sample = data[:LIBRARY_SAMPLE]
    if len(data) > LIBRARY_SAMPLE:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    for match in from_bytes(sample, cp_isolation=list(_OTHERS)):
        yield match.encoding

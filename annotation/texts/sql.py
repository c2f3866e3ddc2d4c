"""The statements that find the words around a check, by hand: they are asked at every claim.

`tests/bench/review.py` and `tests/bench/override.py` defend them all, as parts of the next claim: rows of units, which
may be hundreds, took longer to make than to ask.
"""

from __future__ import annotations

_PLACE = 'unit.document_id, unit.id, unit.position, unit.start, unit."end"'
OF_SUMMARY = f"FALSE AS is_context, {_PLACE} FROM annotation_unit unit WHERE summary_id = %s"
OF_DOCUMENTS = f"""
FALSE AS is_context, {_PLACE} FROM annotation_unit unit
JOIN annotation_document ON annotation_document.id = unit.document_id WHERE annotation_document.document_set_id = %s
"""
CONTEXT = f"TRUE, {_PLACE} FROM annotation_unit unit WHERE summary_id = %s AND position BETWEEN %s AND %s"
UNITS_OF = "SELECT {held} ORDER BY unit.position"
UNITS_AND_CONTEXT = """
SELECT {held}
UNION ALL
SELECT {context}
ORDER BY position
"""
DOCUMENTS = "SELECT id, text FROM annotation_document WHERE document_set_id = %s"

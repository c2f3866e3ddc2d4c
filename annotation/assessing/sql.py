"""The statements of saving an act that are written by hand: every click of every assessor asks them.

`tests/bench/answering.py` defends them all: building them anew as queries took more than half of a save. Units and
claims that were changed, and claims of replaced claim sets, do not count: `models.judgment.IN_FORCE` by hand. Both
stand apart, so that each finds what is current by its own partial index and passes by all that was said before.
CROSS JOIN and FILTER keep SQLite, which knows nothing of how full tables are, from reading all units and all
judgments of the database; to PostgreSQL they are joins like others.
"""

from __future__ import annotations

ASSIGNMENT = (
    "id",
    "public_id",
    "assessor_id",
    "document_set_id",
    "lease_until",
    "pen",
    "pen_seq",
    "guideline_id",
)
PROJECT = ("id", "name", "percent_scale", "question_set", "own_questions", "lease_minutes")
OPEN_ASSIGNMENT = f"""
SELECT {", ".join(f"s.{name}" for name in ASSIGNMENT)}, {", ".join(f"p.{name}" for name in PROJECT)}
FROM annotation_assignment s
JOIN annotation_documentset d ON d.id = s.document_set_id
JOIN annotation_project p ON p.id = d.project_id
WHERE s.public_id = %s AND s.assessor_id = %s AND p.slug = %s AND s.closed_at IS NULL AND s.unassigned_at IS NULL
  AND p.archived_at IS NULL AND p.deleted_at IS NULL
"""  # noqa: S608 - no input in it

STANDING_JUDGMENTS = """
WITH piece AS (
    SELECT id FROM annotation_reading WHERE id IN ({pieces})
)
SELECT j.id, j.reading_id, j.unit_id, j.claim_id, j.percent, j.marks
FROM piece CROSS JOIN annotation_unitjudgment j
WHERE j.reading_id = piece.id AND j.is_current AND j.unit_id IS NOT NULL
UNION ALL
SELECT j.id, j.reading_id, j.unit_id, j.claim_id, j.percent, j.marks
FROM piece CROSS JOIN annotation_unitjudgment j CROSS JOIN annotation_claim k CROSS JOIN annotation_claimset s
WHERE j.reading_id = piece.id AND j.is_current AND j.claim_id IS NOT NULL
  AND k.id = j.claim_id AND k.removed_at IS NULL AND s.id = k.claim_set_id AND s.is_active
"""

LISTED_UNITS = """
SELECT public_id, id, summary_id, position FROM annotation_unit
WHERE public_id IN ({names})
"""

PROGRESS = """
WITH piece AS (
    SELECT a.assignment_id, a.id, a.public_id, a.state, a.position,
           c.peer_id, c.model_id, p.target_words
    FROM annotation_reading a
    JOIN annotation_comparison c ON c.id = a.comparison_id
    JOIN annotation_summary p ON p.id = c.peer_id
    WHERE a.assignment_id IN ({assignments})
), texts AS (
    SELECT peer_id AS id FROM piece UNION SELECT model_id FROM piece
), unit_counts AS (
    SELECT texts.id AS summary_id, COUNT(u.id) AS n
    FROM texts CROSS JOIN annotation_unit u
    WHERE u.summary_id = texts.id
    GROUP BY texts.id
), claim_counts AS (
    SELECT s.summary_id, COUNT(*) AS n
    FROM annotation_claimset s JOIN annotation_claim k ON k.claim_set_id = s.id
    WHERE s.is_active AND k.removed_at IS NULL AND s.summary_id IN (SELECT model_id FROM piece)
    GROUP BY s.summary_id
    HAVING COUNT(*) > COUNT(k.unit_id)
), judged_units AS (
    SELECT piece.id AS reading_id, COUNT(*) AS n
    FROM piece CROSS JOIN annotation_unitjudgment j
    WHERE j.reading_id = piece.id AND j.is_current AND j.unit_id IS NOT NULL AND j.percent IS NOT NULL
    GROUP BY piece.id
), judged_claims AS (
    SELECT piece.id AS reading_id, COUNT(*) AS n
    FROM piece CROSS JOIN annotation_unitjudgment j CROSS JOIN annotation_claim k CROSS JOIN annotation_claimset s
    WHERE j.reading_id = piece.id AND j.is_current AND j.claim_id IS NOT NULL AND j.percent IS NOT NULL
      AND k.id = j.claim_id AND k.removed_at IS NULL AND s.id = k.claim_set_id AND s.is_active
    GROUP BY piece.id
)
SELECT piece.assignment_id, piece.id, piece.public_id, piece.state, piece.peer_id,
       piece.model_id, piece.target_words, COALESCE(peers.n, 0), COALESCE(models.n, 0), claim_counts.n,
       COALESCE(judged_units.n, 0), COALESCE(judged_claims.n, 0), said.quality_answers, said.unmarked_percent
FROM piece
LEFT JOIN unit_counts peers ON peers.summary_id = piece.peer_id
LEFT JOIN unit_counts models ON models.summary_id = piece.model_id
LEFT JOIN claim_counts ON claim_counts.summary_id = piece.model_id
LEFT JOIN judged_units ON judged_units.reading_id = piece.id
LEFT JOIN judged_claims ON judged_claims.reading_id = piece.id
LEFT JOIN annotation_summaryjudgment said
    ON said.assignment_id = piece.assignment_id AND said.peer_id = piece.peer_id AND said.is_current
ORDER BY piece.assignment_id, piece.position, piece.id
"""

TAKE_TURN = """
UPDATE annotation_assignment SET pen = %s, pen_seq = %s, {renewed}
WHERE id = %s AND closed_at IS NULL AND unassigned_at IS NULL{unheard}
"""

OUTDATE = "UPDATE annotation_unitjudgment SET is_current = %s WHERE id IN ({keys})"

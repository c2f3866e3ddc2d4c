"""The hand-written statement for the progress of assignments, which every save and page of assessors runs.

`tests/bench/answering.py` defends it. Removed claims and claims of replaced sets do not count. Units and claims are
counted separately, so that each uses its own partial index and skips old versions. CROSS JOIN keeps SQLite, which
has no table statistics, from reading all units and judgments; PostgreSQL treats it like any join.
"""

from __future__ import annotations

PROGRESS = """
WITH piece AS (
    SELECT a.assignment_id, a.id, a.public_id, a.state, a.position, a.comparison_id,
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
    FROM piece CROSS JOIN annotation_coveragejudgment j
    WHERE j.reading_id = piece.id AND j.is_current AND j.unit_id IS NOT NULL AND j.percent IS NOT NULL
    GROUP BY piece.id
), judged_claims AS (
    SELECT piece.id AS reading_id, COUNT(*) AS n
    FROM piece CROSS JOIN annotation_coveragejudgment j CROSS JOIN annotation_claim k CROSS JOIN annotation_claimset s
    WHERE j.reading_id = piece.id AND j.is_current AND j.claim_id IS NOT NULL AND j.percent IS NOT NULL
      AND k.id = j.claim_id AND k.removed_at IS NULL AND s.id = k.claim_set_id AND s.is_active
    GROUP BY piece.id
)
SELECT piece.assignment_id, piece.id, piece.public_id, piece.state, piece.comparison_id, piece.peer_id,
       piece.model_id, piece.target_words, COALESCE(peers.n, 0), COALESCE(models.n, 0), claim_counts.n,
       COALESCE(judged_units.n, 0), COALESCE(judged_claims.n, 0)
FROM piece
LEFT JOIN unit_counts peers ON peers.summary_id = piece.peer_id
LEFT JOIN unit_counts models ON models.summary_id = piece.model_id
LEFT JOIN claim_counts ON claim_counts.summary_id = piece.model_id
LEFT JOIN judged_units ON judged_units.reading_id = piece.id
LEFT JOIN judged_claims ON judged_claims.reading_id = piece.id
ORDER BY piece.assignment_id, piece.position, piece.id
"""

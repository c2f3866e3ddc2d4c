"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer.
"""

from __future__ import annotations

# All that an answer to a check goes by: a row for each verdict of everybody, the oldest first, or one without any.
# Defended by tests/bench/answering.py (answer).
BEFORE_ANSWER = """
SELECT
    {standing},
    (SELECT id FROM annotation_guideline WHERE project_id = project.id ORDER BY version DESC LIMIT 1),
    EXISTS (SELECT 1 FROM annotation_drawncheck WHERE check_row_id = annotation_check.id AND verdict_id IS NULL),
    EXISTS (SELECT 1 FROM annotation_adjudication WHERE check_row_id = annotation_check.id),
    (SELECT username FROM auth_user WHERE id = verdict.person_id),
    (SELECT name FROM annotation_judge WHERE id = verdict.judge_id),
    {verdict}, {project}, {check}, {claim}, {look}
FROM annotation_check
JOIN annotation_project project ON project.id = annotation_check.project_id
JOIN annotation_claim claim ON claim.id = annotation_check.claim_id
LEFT JOIN annotation_checklook look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = annotation_check.id
WHERE annotation_check.id = %(check)s
ORDER BY verdict.id
"""

# An expression: the ORM makes a join of it. Defended by tests/bench/next_claim.py (random draw).
PLACE_IN_DRAW = """
COALESCE((
    SELECT place.id FROM annotation_drawncheck place
    JOIN annotation_draw draw ON draw.id = place.draw_id
    WHERE place.check_row_id = %s AND draw.public_id = %s
), 0)
"""

# Whether an adjudicator, or assessors' percents, decide a unit. Defended by tests/bench/answering.py (answer).
UNIT_SETTLED = """
SELECT
    EXISTS (
        SELECT 1 FROM annotation_adjudication
        WHERE comparison_id = comparison.id AND {unit} = %s AND withdrawn_at IS NULL
    ),
    EXISTS (
        SELECT 1 FROM annotation_unitjudgment judgment
        JOIN annotation_reading reading ON reading.id = judgment.reading_id
        WHERE reading.comparison_id = comparison.id AND judgment.{unit} = %s AND judgment.is_current
            AND judgment.percent IS NOT NULL AND reading.state = %s
    )
FROM annotation_comparison comparison WHERE peer_id = %s AND model_id = %s
"""

# Defended by tests/bench/answering.py (next claim, a claim's page).
TAKE = """
UPDATE annotation_check SET leased_to_id = %s, lease_until = %s
WHERE id = %s AND (leased_to_id IS NULL OR leased_to_id = %s OR lease_until < %s)
"""

# One statement that looks, takes and reads: of two who ask at once each gets a check of their own. It counts as well
# what else they have in hand of what they opened of late and nobody answered. No index holds leases, so that the last
# looks of everybody are gone through; what these miss, `_let_go_of_others` finds.
# Defended by tests/bench/next_claim.py (next claim).
TAKE_FIRST = """
UPDATE annotation_check SET leased_to_id = %s, lease_until = %s WHERE id = ({first} {unless_locked})
RETURNING id, (
    SELECT COUNT(*) FROM (
        SELECT check_row_id, person_id FROM annotation_checklook ORDER BY id DESC LIMIT %s
    ) look JOIN annotation_check held ON held.id = look.check_row_id
    WHERE look.person_id = %s AND held.leased_to_id = %s AND held.lease_until > %s AND held.human_label IS NULL
        AND held.project_id = annotation_check.project_id AND held.id <> annotation_check.id
)
"""

# Defended by tests/bench/next_claim.py (next claim).
LET_GO = """
UPDATE annotation_check SET leased_to_id = NULL, lease_until = NULL
WHERE id IN (
    SELECT held.id FROM annotation_checklook look JOIN annotation_check held ON held.id = look.check_row_id
    WHERE look.person_id = %s AND held.leased_to_id = %s AND held.lease_until > %s
        AND held.project_id = %s AND held.id <> %s
    ORDER BY held.lease_until DESC, held.id DESC LIMIT %s OFFSET %s {unless_locked}
)
"""

# What somebody else takes or answers at this moment is passed over; SQLite lets one writer in at a time.
# Defended by tests/bench/next_claim.py (next claim).
UNLESS_LOCKED = "FOR NO KEY UPDATE OF {table} SKIP LOCKED"

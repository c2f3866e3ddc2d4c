"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer.
"""

from __future__ import annotations

# A check, its look and what the person may do, in one. Defended by tests/bench/review.py (next claim, a claim's page).
CHECK_AND_LOOK = """
SELECT
    {standing},
    EXISTS (
        SELECT 1 FROM annotation_verdict
        WHERE check_row_id = annotation_check.id AND person_id = %(person)s
    ),
    {check}, {look}
FROM annotation_check
LEFT JOIN annotation_checklook look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
WHERE annotation_check.public_id = %(name)s AND annotation_check.project_id = %(project)s
"""

# All that an answer to a check goes by: a row for each verdict of everybody, the oldest first, or one without any.
# Defended by tests/bench/review.py (answer).
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

# An expression: the ORM makes a join of it. Defended by tests/bench/override.py (random draw).
PLACE_IN_DRAW = """
COALESCE((
    SELECT place.id FROM annotation_drawncheck place
    JOIN annotation_draw draw ON draw.id = place.draw_id
    WHERE place.check_row_id = %s AND draw.public_id = %s
), 0)
"""

# Defended by tests/bench/review.py (answer, a claim's page).
CHECK_OF = "SELECT {columns} FROM annotation_check WHERE public_id = %s AND project_id = %s"

# From both ends of the check, whose row is at hand: joining it too made the database plan for longer than it read.
# Defended by tests/bench/review.py (next claim, a claim's page).
TEXTS = """
SELECT {columns}
FROM annotation_summary peer
JOIN annotation_documentset document_set ON document_set.id = peer.document_set_id
CROSS JOIN annotation_claim claim
JOIN annotation_claimset claim_set ON claim_set.id = claim.claim_set_id
LEFT JOIN annotation_unit unit ON unit.id = claim.unit_id
LEFT JOIN annotation_summary model ON model.id = claim_set.summary_id
WHERE peer.id = %s AND claim.id = %s
"""

# Defended by tests/bench/review.py (answer, a claim's page).
SAID_OF_CHECK = """
SELECT person.username, {columns}
FROM (SELECT 1) one
LEFT JOIN annotation_checklook look ON look.check_row_id = %(check)s AND look.person_id = %(person)s
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = %(check)s
LEFT JOIN auth_user person ON person.id = verdict.person_id
ORDER BY verdict.id
"""

# Whether an adjudicator, or assessors' percents, decide a unit. Defended by tests/bench/review.py (answer).
UNIT_SETTLED = """
SELECT
    EXISTS (
        SELECT 1 FROM annotation_adjudication
        WHERE comparison_id = comparison.id AND {unit} = %s AND withdrawn_at IS NULL
    ),
    EXISTS (
        SELECT 1 FROM annotation_unitjudgment judgment
        JOIN annotation_assignment assignment ON assignment.id = judgment.assignment_id
        WHERE assignment.comparison_id = comparison.id AND judgment.{unit} = %s AND judgment.is_current
            AND judgment.percent IS NOT NULL AND assignment.state = %s AND assignment.repeat_of_id IS NULL
    ) OR EXISTS (
        SELECT 1 FROM annotation_publishedpercent WHERE comparison_id = comparison.id AND unit_id = %s
    )
FROM annotation_comparison comparison WHERE peer_id = %s AND model_id = %s
"""

# Opened in another window, the look is there already.
# Defended by tests/bench/review.py (answer).
REVEAL = """
INSERT INTO annotation_checklook (public_id, check_row_id, person_id, opened_at, revealed_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (check_row_id, person_id) DO UPDATE SET revealed_at = excluded.revealed_at
RETURNING id
"""

# Defended by tests/bench/review.py (next claim, a claim's page).
OPEN = """
INSERT INTO annotation_checklook (public_id, check_row_id, person_id, opened_at) VALUES (%s, %s, %s, %s)
ON CONFLICT (check_row_id, person_id) DO NOTHING
"""

# Defended by tests/bench/review.py (next claim, a claim's page).
TAKE = """
UPDATE annotation_check SET leased_to_id = %s, lease_until = %s
WHERE id = %s AND (leased_to_id IS NULL OR leased_to_id = %s OR lease_until < %s)
"""

# One statement that looks, takes and reads: of two who ask at once each gets a check of their own. It counts as well
# what else they have in hand of what they opened of late and nobody answered. No index holds leases, so that the last
# looks of everybody are gone through; what these miss, `_let_go_of_others` finds.
# Defended by tests/bench/review.py and tests/bench/override.py (next claim).
TAKE_FIRST = """
UPDATE annotation_check SET leased_to_id = %s, lease_until = %s WHERE id = ({first} {unless_locked})
RETURNING {columns}, (
    SELECT COUNT(*) FROM (
        SELECT check_row_id, person_id FROM annotation_checklook ORDER BY id DESC LIMIT %s
    ) look JOIN annotation_check held ON held.id = look.check_row_id
    WHERE look.person_id = %s AND held.leased_to_id = %s AND held.lease_until > %s AND held.human_label IS NULL
        AND held.project_id = annotation_check.project_id AND held.id <> annotation_check.id
)
"""

# Defended by tests/bench/override.py (next claim).
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
# Defended by tests/bench/override.py (next claim).
UNLESS_LOCKED = "FOR NO KEY UPDATE OF {table} SKIP LOCKED"

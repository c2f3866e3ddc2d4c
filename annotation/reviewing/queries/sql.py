"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer. Those of the bias watch
stand at the end; no benchmark defends them, and the ORM has no words for them.
"""

from __future__ import annotations

# A check, its look and what the person may do, in one. Defended by tests/bench/review.py (next claim, a claim's page).
CHECK_AND_LOOK = """
SELECT
    {standing},
    EXISTS (
        SELECT 1 FROM annotation_verdict
        WHERE check_row_id = annotation_check.id AND person_id = %(person)s AND NOT is_set_aside
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
    EXISTS (
        SELECT 1 FROM annotation_checklook look JOIN annotation_check looked_at ON looked_at.id = look.check_row_id
        WHERE look.person_id = %(person)s AND looked_at.project_id = project.id AND {fooling}
    ),
    (SELECT username FROM auth_user WHERE id = verdict.person_id),
    (SELECT name FROM annotation_judge WHERE id = verdict.judge_id),
    (SELECT public_id FROM annotation_verdictbatch WHERE id = verdict.batch_id),
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

# The planted verdicts that a person takes for the judge's, with their own answers that stand.
# Defended by tests/bench/override.py (people against the judge).
TAKEN_FOR_TRUE = """
SELECT look.check_row_id, look.planted_label, (
    SELECT label FROM annotation_verdict
    WHERE check_row_id = look.check_row_id AND person_id = look.person_id AND withdrawn_at IS NULL
    ORDER BY id DESC LIMIT 1
)
FROM annotation_checklook look JOIN annotation_check ON annotation_check.id = look.check_row_id
WHERE look.person_id = %s AND annotation_check.project_id = %s AND {fooling}
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
            AND judgment.percent IS NOT NULL AND assignment.state = %s
    ) OR EXISTS (
        SELECT 1 FROM annotation_publishedpercent WHERE comparison_id = comparison.id AND unit_id = %s
    )
FROM annotation_comparison comparison WHERE peer_id = %s AND model_id = %s
"""

# Opened in another window, the look is there already, and what is planted is the same there.
# Defended by tests/bench/review.py (answer).
REVEAL = """
INSERT INTO annotation_checklook (public_id, check_row_id, person_id, opened_at, revealed_at, planted_label)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (check_row_id, person_id)
DO UPDATE SET revealed_at = excluded.revealed_at, planted_label = excluded.planted_label
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

# No benchmark: a query of the ORM cannot pick the first and the last row of each person and check and count over them.
_ANSWERS = """
said AS (
    SELECT verdict.id, verdict.check_row_id, verdict.person_id, verdict.label, verdict.shown,
           verdict.active_ms, verdict.batch_id, verdict.withdrawn_at, verdict.is_set_aside, asked.judge_label
    FROM annotation_verdict verdict JOIN annotation_check asked ON asked.id = verdict.check_row_id
    WHERE asked.project_id = %s AND verdict.source = 'reviewer' AND verdict.person_id IS NOT NULL
),
ends AS (
    SELECT check_row_id, person_id, MIN(id) AS first_id,
           MAX(CASE WHEN withdrawn_at IS NULL THEN id END) AS final_id,
           MAX(CASE WHEN is_set_aside THEN id END) AS set_aside_id,
           SUM(CASE WHEN batch_id IS NULL THEN active_ms ELSE 0 END) AS ms
    FROM said GROUP BY check_row_id, person_id
)"""

BIAS_COUNTS = f"""
WITH {_ANSWERS},
pairs AS (
    SELECT ends.person_id, began.label AS first_label, began.shown AS first_shown,
           ended.label AS final_label, ended.shown AS final_shown, ended.batch_id, began.judge_label,
           look.revealed_at, look.planted_label, ends.set_aside_id
    FROM ends
    JOIN said began ON began.id = ends.first_id
    LEFT JOIN said ended ON ended.id = ends.final_id
    LEFT JOIN annotation_checklook look
        ON look.check_row_id = ends.check_row_id AND look.person_id = ends.person_id
),
sorted AS (
    SELECT person_id, first_label, final_label, batch_id, judge_label,
           batch_id IS NULL AND judge_label IS NOT NULL AND final_shown IN ('nothing', 'person') AS is_unseen,
           batch_id IS NULL AND judge_label IS NOT NULL AND final_shown = 'judge' AS is_seen,
           first_shown = 'nothing' AND revealed_at IS NOT NULL AND planted_label IS NULL AND set_aside_id IS NULL
               AND final_label IS NOT NULL AND first_label <> judge_label AS has_differed
    FROM pairs
),
told AS (
    SELECT look.person_id, look.planted_label,
           (SELECT CASE WHEN began.shown = 'nothing' THEN began.label END FROM annotation_verdict began
            WHERE began.check_row_id = look.check_row_id AND began.person_id = look.person_id
            ORDER BY began.id LIMIT 1) AS unseen_label,
           (SELECT held.label FROM annotation_verdict held
            WHERE held.check_row_id = look.check_row_id AND held.person_id = look.person_id
              AND held.created_at <= look.disclosed_at
              AND (held.withdrawn_at IS NULL OR held.withdrawn_at > look.disclosed_at OR held.is_set_aside)
            ORDER BY held.id DESC LIMIT 1) AS held_label
    FROM annotation_checklook look JOIN annotation_check asked ON asked.id = look.check_row_id
    WHERE asked.project_id = %s AND look.planted_label IS NOT NULL AND look.disclosed_at IS NOT NULL
),
planted AS (
    SELECT person_id,
           COUNT(CASE WHEN unseen_label IS NULL OR unseen_label <> planted_label THEN 1 END) AS n,
           COUNT(CASE WHEN (unseen_label IS NULL OR unseen_label <> planted_label)
                       AND held_label <> planted_label THEN 1 END) AS withstood,
           COUNT(CASE WHEN unseen_label = planted_label THEN 1 END) AS already
    FROM told WHERE held_label IS NOT NULL GROUP BY person_id
),
counted AS (
    SELECT person_id,
           COUNT(final_label) AS answers,
           COUNT(batch_id) AS in_lists,
           COUNT(CASE WHEN is_unseen THEN 1 END) AS unseen,
           COUNT(CASE WHEN is_unseen AND final_label <> judge_label THEN 1 END) AS overridden_unseen,
           COUNT(CASE WHEN is_seen THEN 1 END) AS seen,
           COUNT(CASE WHEN is_seen AND final_label <> judge_label THEN 1 END) AS overridden_seen,
           COUNT(CASE WHEN has_differed THEN 1 END) AS differed,
           COUNT(CASE WHEN has_differed AND final_label = judge_label THEN 1 END) AS switched
    FROM sorted GROUP BY person_id
)
SELECT counted.person_id, answers, in_lists, unseen, overridden_unseen, seen, overridden_seen, differed, switched,
       COALESCE(planted.n, 0), COALESCE(planted.withstood, 0), COALESCE(planted.already, 0)
FROM counted LEFT JOIN planted ON planted.person_id = counted.person_id
"""  # noqa: S608  # made of this module's own words

BIAS_TIMES = f"""
WITH {_ANSWERS},
timed AS (
    SELECT person_id, ms FROM ends WHERE ms > 0 AND final_id IS NOT NULL
    UNION ALL
    SELECT NULL, ms FROM ends WHERE ms > 0 AND final_id IS NOT NULL
),
placed AS (
    SELECT person_id, ms, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY ms) AS place,
           COUNT(*) OVER (PARTITION BY person_id) AS n
    FROM timed
)
SELECT person_id, AVG(ms), MAX(n) FROM placed
WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY person_id
"""  # noqa: S608  # as above

BIAS_PAIRS = f"""
WITH {_ANSWERS},
unseen AS (
    SELECT said.check_row_id, said.person_id, said.label
    FROM ends JOIN said ON said.id = ends.first_id WHERE said.shown = 'nothing'
)
SELECT own.person_id, own.label, other.label, COUNT(*)
FROM unseen own JOIN unseen other
    ON other.check_row_id = own.check_row_id AND other.person_id <> own.person_id
GROUP BY own.person_id, own.label, other.label
"""  # noqa: S608  # as above

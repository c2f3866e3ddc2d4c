"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer.
"""

from __future__ import annotations

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

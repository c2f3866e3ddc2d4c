"""Reading files of summaries: recognised, checked row by row, held against the rows that are there.

Nothing here writes; `annotation.imports.services` does.
"""

"""Reading files of summaries: recognised, checked row by row, compared with the rows that are there.

Nothing here writes; `annotation.imports.services` does.
"""

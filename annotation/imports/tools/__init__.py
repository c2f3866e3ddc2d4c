"""Files of tools and studies: those that annotate, laid flat, and those of DUC and TAC."""

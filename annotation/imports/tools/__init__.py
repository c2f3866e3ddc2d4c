"""Files of annotation tools, published studies, DUC and TAC."""

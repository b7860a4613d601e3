"""Seals: what makes a later change of a record visible. Used by the store and by the record of writes."""

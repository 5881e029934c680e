"""How far rules are trusted: learnt from all labelled rows, by what held-out rows say."""

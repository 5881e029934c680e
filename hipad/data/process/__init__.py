"""Reading in a process of its own: a crash, a bomb or a hang in a file ends in a sentence."""

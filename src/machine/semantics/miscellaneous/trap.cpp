// PTX: Miscellaneous Instructions: trap, brkpt, nanosleep, pmevent.

"""What a user asks for, composed from the rooms: doctor, quickstart, compile, eval, run."""

"""What runs inside a candidate's process: standard library only, started from files, never imported by the judge."""

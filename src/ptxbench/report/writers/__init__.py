"""Tables and figures as text and pictures, one format each."""

"""User-Mode Linux: a lab kernel as a process of the host, in virtual time, on a virtual chip."""

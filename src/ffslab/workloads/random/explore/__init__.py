"""What looks closer at a history that ended wrongly: guests that make some of its calls."""

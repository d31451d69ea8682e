"""database: pages changed in transactions, kept safe by a rollback journal or a write-ahead log."""

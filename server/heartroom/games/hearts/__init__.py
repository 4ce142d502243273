"""Hearts: four seats, thirteen cards each, and nobody wants the queen. See `docs/rules/hearts.md`."""

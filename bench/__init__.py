"""What heartroom costs under load. See bench/README.md; `python -m bench --help`."""

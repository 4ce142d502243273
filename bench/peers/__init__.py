"""heartroom beside Colyseus and boardgame.io. See bench/README.md; `python -m bench.peers --help`."""

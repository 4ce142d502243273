"""What the Makefile and the tests use to set a machine up. No part of what is installed."""

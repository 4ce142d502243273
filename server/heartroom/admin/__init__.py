"""What those who run a house do with its store: look into it, end and hide things, rebuild boards, back up.

Works on the store alone, whether nodes are running or not. Whatever changes something is written down first,
with its reason (`actions`). Who reads the output need not be able to join every game and be every player:
sessions and players appear under the pseudonyms that the log has, too.
"""

"""Players' data: statistics, groups, the recovery code; all of it on paper, or none of it any more.

A player is a random id in a cookie, a name that anybody may bear, and what follows from games.
"""

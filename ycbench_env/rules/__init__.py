"""Every formula of the game, as plain scalar functions that a compiled driver can share.

Only int, float, bool, NamedTuple and sequences of them go in and out; only ``math`` and ``typing`` are imported. Which
rule applies to what is decided by the driver in ``ycbench_env.transition``. Source ids are those of docs/rules.md.
"""

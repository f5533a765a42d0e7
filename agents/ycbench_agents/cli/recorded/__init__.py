"""Runs that are kept as folders: ``ycbench run`` with a model or ``--records``, ``resume``, ``replay``, ``export``."""

"""Servers of other systems that come without one."""

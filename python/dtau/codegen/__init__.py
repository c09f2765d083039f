"""One robot as C: functions of the core, recorded and written for one model."""

"""What happened in a lab: change points, new findings, machines that fell silent; and who hears of it."""

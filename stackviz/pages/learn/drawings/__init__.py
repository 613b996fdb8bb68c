"""The drawings of chapters. Each module declares `DRAWINGS`: name -> a function of the catalogue."""

from django.db import models

from stackviz.records.labs.models import Machine

LONGEST = 20  # characters of a word that are compared


class MachineWord(models.Model):
    """How a word begins in the name of a machine, in its address or in the name of its lab: `r`, `ra`, `rac`, `rack`.

    Every beginning is a row, so that a search is an equality that an index answers, newest machine first, whatever the
    collation of the database. `words_of_machines.py` writes them.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="words")
    beginning = models.CharField(max_length=LONGEST)

    class Meta:
        verbose_name = "word of the search"
        verbose_name_plural = "words of the search"
        constraints = (models.UniqueConstraint(fields=("beginning", "machine"), name="machine_word_once_per_machine"),)

    def __str__(self) -> str:
        return self.beginning

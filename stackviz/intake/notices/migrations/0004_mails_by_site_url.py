from django.db import migrations


class Migration(migrations.Migration):
    """Links in mails begin with SITE_URL, no longer with the address of the page on which somebody asked for them."""

    dependencies = [("notices", "0003_event_mails")]
    operations = [migrations.RemoveField(model_name="eventmail", name="site")]

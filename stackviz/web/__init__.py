"""What pages share: htmx, paging, template tags, views as files, answers that need not be sent again."""

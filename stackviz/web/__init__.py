"""What pages share: requests and answers (`http/`), languages (`i18n/`), lists, tables as files, template tags."""

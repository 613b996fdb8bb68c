# The site in one image: web, worker, beat and the migrate step of docker-compose.yml all run from it.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 VAR_DIR=/app/var
WORKDIR /app

# Before the code: the layer is made anew only when a pin changes.
COPY requirements.txt .
RUN pip install --disable-pip-version-check -r requirements.txt

COPY manage.py gunicorn.conf.py ./
COPY accelweb accelweb
COPY stackviz stackviz
COPY templates templates
COPY static static
COPY locale locale
COPY tools/translations.py tools/

# The files are named by their content and compressed once, here; the key is for this step only. An empty var/data gives
# the volume that is mounted there its owner.
RUN useradd --system --uid 10001 --home-dir /app accelweb \
    && python -m tools.translations --compile \
    && SECRET_KEY=only-while-building python manage.py collectstatic --noinput \
    && mkdir -p /app/var/data /app/var/metrics \
    && chown -R accelweb /app/var
USER accelweb

EXPOSE 8000
CMD ["gunicorn", "accelweb.wsgi", "--bind", "0.0.0.0:8000", "--workers", "3", "--worker-class", "gthread", "--threads", "4", "--no-control-socket", "--access-logfile", "-"]

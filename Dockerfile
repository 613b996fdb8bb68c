# The site in one image: web, worker, beat and the migrate step of docker-compose.yml all run from it.
# By digest where you build for others: --build-arg PYTHON_IMAGE=python:3.12-slim@sha256:... (docs/deployment.md).
ARG PYTHON_IMAGE=python:3.12-slim
FROM ${PYTHON_IMAGE}

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 VAR_DIR=/app/var
WORKDIR /app

# Before the code: the layer is made anew only when a pin changes.
COPY requirements-hashed.txt .
RUN pip install --disable-pip-version-check --only-binary :all: --require-hashes -r requirements-hashed.txt

COPY manage.py gunicorn.conf.py ./
COPY accelweb accelweb
COPY stackviz stackviz
COPY templates templates
COPY static static
COPY locale locale
COPY tools/translations.py tools/

# `manage.py backup` and `restore` run pg_dump and psql, which have to be of the server's major version: the script adds
# PostgreSQL's own repository, which has each of them. The font draws Chinese names in pictures of pages.
ARG POSTGRES_MAJOR=16
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates fonts-droid-fallback postgresql-common \
    && /usr/share/postgresql-common/pgdg/*.sh -y \
    && apt-get install --yes --no-install-recommends postgresql-client-${POSTGRES_MAJOR} \
    && rm -rf /var/lib/apt/lists/*

# The files are named by their content and compressed once, here; the key is for this step only. Empty folders give
# the volumes that are mounted there their owner.
RUN groupadd --system --gid 10001 accelweb \
    && useradd --system --uid 10001 --gid 10001 --home-dir /app --shell /usr/sbin/nologin accelweb \
    && python -m tools.translations --compile \
    && SECRET_KEY=only-while-building python manage.py collectstatic --noinput \
    && install -d -o accelweb -g accelweb /app/var/data /app/var/metrics /app/var/pictures /app/var/backups
USER 10001:10001

EXPOSE 8000
CMD ["gunicorn", "accelweb.wsgi", "--bind", "0.0.0.0:8000", "--workers", "3", "--worker-class", "gthread", "--threads", "4", "--no-control-socket", "--access-logfile", "-"]

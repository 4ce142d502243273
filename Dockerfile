# One node of heartroom. Without HEARTROOM_REDIS_URL it keeps its games in the embedded store, in /data. The root file
# system may be read-only (`docker run --read-only --tmpfs /tmp`): nothing else is written.

FROM python:3.13-slim AS client
WORKDIR /heartroom
COPY requirements/client.txt requirements/
RUN pip install --no-cache-dir -r requirements/client.txt
COPY client/package.json client/package-lock.json client/.npmrc client/
RUN npm ci --prefix client
COPY client client
RUN npm run --prefix client build

FROM python:3.13-slim AS server
WORKDIR /heartroom
RUN python -m venv /venv
COPY requirements/play.txt requirements/
RUN /venv/bin/pip install --no-cache-dir -r requirements/play.txt
COPY LICENSE pyproject.toml ./
COPY server server
COPY --from=client /heartroom/server/heartroom/web/static server/heartroom/web/static
RUN /venv/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --system --uid 10001 heartroom && install --directory --owner heartroom /data
COPY --from=server /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HEARTROOM_HOST=0.0.0.0 HEARTROOM_PORT=8000 HEARTROOM_DATA_DIR=/data
USER heartroom
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import os; from urllib.request import urlopen; urlopen(f'http://127.0.0.1:{os.environ.get(\"HEARTROOM_PORT\") or 8000}/healthz', timeout=2)"]
CMD ["heartroom", "serve"]

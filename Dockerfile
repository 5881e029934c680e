# The app in a container of its own: read-only, without root, with a health check.
#
#     docker build -t hipad .
#     docker run --rm --read-only --tmpfs /tmp -v hipad-data:/data -p 127.0.0.1:8501:8501 hipad
#
# Kept work lies in the volume /data. For other names than localhost set
# STREAMLIT_SERVER_ALLOWED_HOSTS, and put a proxy with TLS and a login before it (SECURITY.md).

FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE app.py ./
COPY hipad hipad
COPY pages pages
COPY ui ui
COPY sample_data sample_data
COPY docs/rules.md docs/rules.md
COPY .streamlit/config.toml .streamlit/config.toml
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY requirements.txt /requirements.txt
RUN python -m pip install --no-cache-dir --no-compile --require-hashes -r /requirements.txt
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir --no-deps /wheels/*.whl \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin hipad \
    && install -d -o hipad -g hipad -m 700 /data
ENV HOME=/data \
    HIPAD_KEEP_FOLDER=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0
USER 10001:10001
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["hipad", "app", "--no-browser", "--port", "8501"]

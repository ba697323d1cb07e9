FROM python:3.13-slim AS build
WORKDIR /app
COPY requirements.txt .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.txt
COPY manage.py .
COPY joobq_admin joobq_admin
COPY static static
COPY templates templates
# Any complete settings do: static files depend on none of them.
RUN JOOBQ_ADMIN_AUTH=dev JOOBQ_ADMIN_REDIS_URL=redis://none /venv/bin/python manage.py collectstatic --noinput \
 && /venv/bin/python -m compileall -q joobq_admin

FROM python:3.13-slim
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1
# Files belong to root: the process can read all and change none.
USER 65534:65534
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["python", "-c", "\
import http.client, os, sys; \
us = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('PORT') or 8000), timeout=2); \
us.request('GET', '/healthz'); sys.exit(us.getresponse().status != 200)"]
CMD ["gunicorn", "-c", "python:joobq_admin.gunicorn", "joobq_admin.wsgi:application"]

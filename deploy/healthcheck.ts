/** Whether the role in this container can do its work, for HEALTHCHECK: exit 0 or 1. */
const response = await fetch(`http://127.0.0.1:${process.env.PORT || 4000}/readyz`, { signal: AbortSignal.timeout(4_000) });
process.exit(response.ok ? 0 : 1);
